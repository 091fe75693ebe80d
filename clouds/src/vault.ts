/** Logins at HashiCorp Vault and OpenBao by a token of the service (JWT authentication). */
import type { CredentialValue } from '#contract/credentials/kinds.ts';
import { CloudProblem, exchange, type PrivateHosts, shownText } from './exchange.ts';

export interface VaultAccess {
  readonly privateHosts: PrivateHosts;
  readonly signal: AbortSignal;
}

interface VaultCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token?: string;
  readonly body?: object;
}

function errorsOf(text: string): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    return Array.isArray(errors) ? errors.map(String).join('; ') : '';
  } catch {
    return '';
  }
}

/** @throws CloudProblem */
async function call(
  access: VaultAccess,
  { address = '', namespace }: CredentialValue,
  { method, path, token, body }: VaultCall,
): Promise<Record<string, unknown>> {
  const { status, text } = await exchange({
    ...access,
    method,
    url: new URL(`${address.replace(/\/+$/, '')}/v1/${path}`),
    headers: {
      accept: 'application/json',
      'x-vault-request': 'true',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
      ...(token === undefined ? {} : { 'x-vault-token': token }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (status === 503) throw new CloudProblem('was refused by Vault: it is sealed, or not ready (status 503)');
  if (status < 200 || status > 299)
    throw new CloudProblem(`was refused by Vault with status ${status}: ${shownText(errorsOf(text))}`);
  try {
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  } catch (error) {
    throw new CloudProblem('was answered by something that is not Vault', { cause: error });
  }
}

/** @returns a token of Vault @throws CloudProblem */
export async function logInToVault(
  access: VaultAccess,
  value: CredentialValue,
  jwt: string,
): Promise<string> {
  const mount = (value.jwtAuthBackendPath ?? '').replaceAll(/^\/+|\/+$/g, '');
  const { auth } = await call(access, value, {
    method: 'POST',
    path: `auth/${mount}/login`,
    body: { role: value.roleName, jwt },
  });
  const token = (auth as { client_token?: unknown } | null | undefined)?.client_token;
  if (typeof token !== 'string' || token === '')
    throw new CloudProblem('was answered by Vault without a token');
  return token;
}

/** Description of a token by Vault: the names of its policies. @throws CloudProblem */
export async function lookUpVaultToken(
  access: VaultAccess,
  value: CredentialValue,
  token: string,
): Promise<string[]> {
  const { data } = await call(access, value, { method: 'GET', path: 'auth/token/lookup-self', token });
  const policies = (data as { policies?: unknown } | undefined)?.policies;
  return Array.isArray(policies) ? policies.map((policy) => shownText(String(policy))) : [];
}

/** Ends a token that is not needed any more. @throws CloudProblem */
export async function revokeVaultToken(
  access: VaultAccess,
  value: CredentialValue,
  token: string,
): Promise<void> {
  await call(access, value, { method: 'POST', path: 'auth/token/revoke-self', token });
}
