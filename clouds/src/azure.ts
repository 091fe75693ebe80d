/** Tokens of applications of Microsoft Entra, for Azure's interfaces. */
import { exchangeJson, type PrivateHosts, refusal, textPart, trusting } from './exchange.ts';

const usualAuthority = 'https://login.microsoftonline.com';
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Proof of identity of an application: a secret, or the token of an issuer that it trusts. */
export type ApplicationProof = { readonly secret: string } | { readonly assertion: string };

/** Endpoint for tokens of applications, with `AZURE_AUTHORITY_HOST` of the environment. */
export function tokenAddress(tenantId: string, authority: string | undefined): string {
  return `${(authority || usualAuthority).replace(/\/+$/, '')}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
}

/** The form with which an application asks for a token. @param audience an address, without a slash at its end */
export function tokenForm(
  clientId: string,
  audience: string,
  proof: ApplicationProof,
): Record<string, string> {
  return {
    grant_type: 'client_credentials',
    client_id: clientId,
    scope: `${audience}/.default`,
    ...('secret' in proof
      ? { client_secret: proof.secret }
      : { client_assertion_type: assertionType, client_assertion: proof.assertion }),
  };
}

/** @param request.audience what the token is for @throws CloudProblem */
export async function applicationToken(
  access: { readonly privateHosts: PrivateHosts; readonly signal: AbortSignal },
  request: {
    readonly tenantId: string;
    readonly clientId: string;
    readonly proof: ApplicationProof;
    readonly audience: string;
  },
): Promise<string> {
  const { tenantId, clientId, proof, audience } = request;
  const address = tokenAddress(tenantId, process.env.AZURE_AUTHORITY_HOST);
  const { status, body } = await exchangeJson({
    method: 'POST',
    url: new URL(address),
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(tokenForm(clientId, audience, proof)).toString(),
    privateHosts: trusting(access.privateHosts, address),
    signal: access.signal,
  });
  const token = textPart(body, 'access_token');
  if (status === 200 && token !== undefined) return token;
  throw refusal('Azure', status, textPart(body, 'error_description') ?? textPart(body, 'error'));
}
