/**
 * The identity provider, spoken to by openid-client: code flow with PKCE, state and nonce. Addresses and keys
 * are read for each sign-in, so that those that the provider replaced are never used; ID tokens are accepted
 * only with a signature by one of its keys.
 */
import type { Configuration, UserInfoResponse } from 'openid-client';
import type { Context } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';

/** Seconds by which the clocks of provider and service may differ. */
const clockSkewSeconds = 30;
const timeoutSeconds = 10;

/** The settings of a provider that is configured. */
export interface OidcProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  readonly name: string;
  readonly claim: string;
}

/** The provider of the settings; null where there is none. */
function providerOf({ settings }: Pick<Context, 'settings'>): OidcProviderSettings | null {
  const { oidcIssuer: issuer, oidcClientId: clientId } = settings;
  if (issuer === undefined || clientId === undefined) return null;
  return {
    issuer,
    clientId,
    clientSecret: settings.oidcClientSecret?.reveal(),
    scopes: settings.oidcScopes,
    name: settings.oidcName,
    claim: settings.oidcClaim,
  };
}

/** @throws Refusal 404 where none is configured */
export function requireProvider(context: Pick<Context, 'settings'>): OidcProviderSettings {
  const provider = providerOf(context);
  if (!provider)
    throw new Refusal(
      'not_found',
      'No identity provider is configured (ENVARIUM_OIDC_ISSUER): sign in by password',
    );
  return provider;
}

/** Loaded for the first sign-in: most installations never need it. */
const library = () => import('openid-client');

/** @throws Refusal 503 where the provider does not answer as one */
async function discover(
  context: Pick<Context, 'log'>,
  provider: OidcProviderSettings,
): Promise<Configuration> {
  const client = await library();
  const { issuer, clientId, clientSecret } = provider;
  const authentication = clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
  const isPlain = issuer.startsWith('http:');
  const metadata = { [client.clockTolerance]: clockSkewSeconds };
  try {
    return await client.discovery(new URL(issuer), clientId, metadata, authentication, {
      timeout: timeoutSeconds,
      execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
    });
  } catch (error) {
    context.log.warn({ err: error, issuer }, 'the identity provider cannot be used');
    throw new Refusal(
      'unavailable',
      'The identity provider does not answer as expected: the log of the service has the reason',
    );
  }
}

/** State to keep until the provider responds. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/**
 * Begins a sign-in.
 * @param isDeliberate the person has to sign in at the provider again
 * @returns where to send the browser
 */
export async function beginAtProvider(
  context: Pick<Context, 'log'>,
  provider: OidcProviderSettings,
  { redirectUri, isDeliberate }: { readonly redirectUri: string; readonly isDeliberate: boolean },
): Promise<PendingSignIn & { readonly url: string }> {
  const client = await library();
  const configuration = await discover(context, provider);
  const started = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    codeVerifier: client.randomPKCECodeVerifier(),
  };
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: provider.scopes,
    state: started.state,
    nonce: started.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(started.codeVerifier),
    code_challenge_method: 'S256',
    ...(isDeliberate ? { prompt: 'login' } : {}),
  });
  return { ...started, url: url.href };
}

/** Identity according to the provider. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Null where the provider does not say that it has verified one. */
  readonly verifiedEmail: string | null;
  readonly name: string | null;
  readonly picture: string | null;
  /** Of the claim that memberships follow. */
  readonly groups: readonly string[];
}

function textOf(value: unknown, most: number): string | null {
  if (typeof value !== 'string' || value.trim() === '' || value.length > most) return null;
  return /\p{Cc}/u.test(value) ? null : value;
}

function identityOf(
  issuer: string,
  subject: string,
  claims: Record<string, unknown>,
  claim: string,
): ProviderIdentity {
  const email = claims['email_verified'] === true ? textOf(claims['email'], 254) : null;
  const picture = textOf(claims['picture'], 2000);
  return {
    issuer,
    subject,
    verifiedEmail: email !== null && /^[^\s@]+@[^\s@]+$/.test(email) ? email : null,
    name: textOf(claims['name'], 255),
    picture: picture?.startsWith('https://') ? picture : null,
    groups: [claims[claim] ?? []].flat().filter((value) => typeof value === 'string'),
  };
}

/** @returns what the provider says about the user in addition; nothing where it has no such address */
async function userInfo(
  configuration: Configuration,
  accessToken: string,
  subject: string,
): Promise<Partial<UserInfoResponse>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return (await library()).fetchUserInfo(configuration, accessToken, subject);
}

/**
 * Exchanges the code for tokens, and checks them: signature, issuer, audience, nonce and times.
 * @param arrived the address that the provider has sent the browser to
 * @throws Refusal 403 where the person or the provider refused, or the tokens are not what they have to be
 */
export async function finishAtProvider(
  context: Pick<Context, 'log'>,
  provider: OidcProviderSettings,
  started: PendingSignIn,
  arrived: URL,
): Promise<ProviderIdentity> {
  const client = await library();
  const configuration = await discover(context, provider);
  try {
    const tokens = await client.authorizationCodeGrant(configuration, arrived, {
      expectedState: started.state,
      expectedNonce: started.nonce,
      pkceCodeVerifier: started.codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('The provider sent no ID token');
    const isComplete = claims['email'] !== undefined && claims[provider.claim] !== undefined;
    const more = isComplete ? {} : await userInfo(configuration, tokens.access_token, claims.sub);
    return identityOf(claims.iss, claims.sub, { ...more, ...claims }, provider.claim);
  } catch (error) {
    context.log.warn(
      { err: error, issuer: provider.issuer },
      'a sign-in through the identity provider failed',
    );
    throw new Refusal(
      'forbidden',
      'The identity provider did not confirm this sign-in: try again; the log of the service has the reason',
    );
  }
}
