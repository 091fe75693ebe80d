/** Access tokens of Google Cloud: by the key of a service account, or by a token of the service. */
import { createSign } from 'node:crypto';
import {
  CloudProblem,
  type Exchange,
  exchangeJson,
  type PrivateHosts,
  part,
  refusal,
  textPart,
} from './exchange.ts';

export interface GoogleAccess {
  readonly privateHosts: PrivateHosts;
  readonly signal: AbortSignal;
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const usualTokenAddress = 'https://oauth2.googleapis.com/token';
const bearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const tokenSeconds = 3600;

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The parts of a service account's key that make tokens. */
export interface ServiceAccount {
  readonly email: string;
  readonly privateKey: string;
  /** Endpoint for its tokens. */
  readonly address: string;
}

/** @param key the content of a key file @returns null if it is not that of a service account */
export function serviceAccountOf(key: unknown): ServiceAccount | null {
  const [email, privateKey] = [textPart(key, 'client_email'), textPart(key, 'private_key')];
  const isKey = part(key, 'type') === 'service_account';
  if (!isKey || email === undefined || privateKey === undefined) return null;
  return { email, privateKey, address: textPart(key, 'token_uri') ?? usualTokenAddress };
}

/**
 * The form that exchanges a signed statement of a service account for a token (RFC 7523).
 * @returns null if the key cannot be used
 */
export function serviceAccountForm({ email, privateKey, address }: ServiceAccount) {
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims = { iss: email, scope, aud: address, iat: issuedAt, exp: issuedAt + 600 };
  const signed = `${base64url({ alg: 'RS256', typ: 'JWT' })}.${base64url(claims)}`;
  try {
    const signature = createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url');
    return { grant_type: bearerGrant, assertion: `${signed}.${signature}` };
  } catch {
    return null;
  }
}

/** @param field the one of the answer that the token is in */
async function tokenFrom(
  access: GoogleAccess,
  field: string,
  request: Pick<Exchange, 'headers' | 'body'> & { readonly address: string | undefined },
): Promise<string> {
  const url = URL.parse(request.address ?? '');
  if (url === null) throw new CloudProblem('cannot be found: an address in that credential is missing');
  const headers = { accept: 'application/json', ...request.headers };
  const { status, body } = await exchangeJson({ ...access, ...request, method: 'POST', url, headers });
  const token = textPart(body, field);
  if (status === 200 && token !== undefined) return token;
  const message = textPart(body, 'error_description') ?? textPart(body, 'error', 'message');
  throw refusal('Google Cloud', status, message ?? textPart(body, 'error'));
}

const ofForm = (form: Readonly<Record<string, string>>) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(form).toString(),
});

/** A token of a service account, for an hour. @param key the content of its key file @throws CloudProblem */
export async function tokenOfKey(access: GoogleAccess, key: unknown): Promise<string> {
  const account = serviceAccountOf(key);
  const form = account && serviceAccountForm(account);
  if (account === null || form === null)
    throw new CloudProblem('cannot be found: the key of the service account cannot be used');
  return tokenFrom(access, 'access_token', { address: account.address, ...ofForm(form) });
}

/**
 * A token by workload identity, as tools get it, for an hour.
 * @param configuration the content of its file
 * @param token of the service
 * @throws CloudProblem
 */
export async function tokenOfWorkload(
  access: GoogleAccess,
  configuration: unknown,
  token: string,
): Promise<string> {
  const federated = await tokenFrom(access, 'access_token', {
    address: textPart(configuration, 'token_url'),
    ...ofForm({
      grant_type: exchangeGrant,
      audience: textPart(configuration, 'audience') ?? '',
      scope,
      requested_token_type: accessTokenType,
      subject_token_type: textPart(configuration, 'subject_token_type') ?? '',
      subject_token: token,
    }),
  });
  const address = textPart(configuration, 'service_account_impersonation_url');
  if (address === undefined) return federated;
  return tokenFrom(access, 'accessToken', {
    address,
    headers: { authorization: `Bearer ${federated}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scope: [scope], lifetime: `${tokenSeconds}s` }),
  });
}
