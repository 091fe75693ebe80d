/**
 * `${azure:<secret>@<vault>}`: Azure Key Vault, over its REST interface. The identity is the application of
 * `AZURE_TENANT_ID` and `AZURE_CLIENT_ID` with `AZURE_CLIENT_SECRET` or `AZURE_FEDERATED_TOKEN_FILE`, else the managed
 * identity of the machine.
 */
import { readFile } from 'node:fs/promises';
import { type ApplicationProof, tokenAddress, tokenForm } from '#clouds/azure.ts';
import { part } from '#clouds/exchange.ts';
import type { ProcessEnvironment } from '#settings/declaration.ts';
import { askStore } from './ask-store.ts';
import {
  fieldOf,
  nameAndKey,
  SecretProblem,
  type SecretStore,
  type StoreOptions,
  type StoreSecret,
} from './secret-store.ts';

const usualMetadata = 'http://169.254.169.254';

/** @throws SecretProblem for a name that has another form */
function placeOf(name: string): { readonly secret: string; readonly vault: string } {
  const [, secret, vault] = /^([0-9A-Za-z-]{1,127})@([0-9A-Za-z-]{3,24})$/.exec(name) ?? [];
  if (secret === undefined || vault === undefined)
    throw new SecretProblem('the reference must have the form ${azure:<secret>@<vault>}');
  return { secret, vault };
}

/** Audience of tokens: the domain of the vaults, without the name of one. */
function audienceOf(address: string): string {
  const { protocol, host } = new URL(address.replace('{vault}', 'vault'));
  return host.startsWith('vault.') && host.split('.').length > 2
    ? `${protocol}//${host.slice(6)}`
    : 'https://vault.azure.net';
}

async function proofOf(environment: ProcessEnvironment): Promise<ApplicationProof> {
  const file = environment['AZURE_FEDERATED_TOKEN_FILE'];
  if (!file) return { secret: environment['AZURE_CLIENT_SECRET'] ?? '' };
  const token = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SecretProblem(
      `the file of AZURE_FEDERATED_TOKEN_FILE cannot be read (${error.code ?? 'error'})`,
    );
  });
  return { assertion: token.trim() };
}

async function readToken(
  environment: ProcessEnvironment,
  audience: string,
  signal: AbortSignal,
): Promise<string> {
  const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client } = environment;
  const isApplication = environment['AZURE_CLIENT_SECRET'] || environment['AZURE_FEDERATED_TOKEN_FILE'];
  if (isApplication && (!tenant || !client))
    throw new SecretProblem(`${tenant ? 'AZURE_CLIENT_ID' : 'AZURE_TENANT_ID'} is not set for the agent`);
  const { status, body } =
    isApplication && tenant && client
      ? await askStore({
          url: tokenAddress(tenant, environment['AZURE_AUTHORITY_HOST']),
          form: tokenForm(client, audience, await proofOf(environment)),
          signal,
        })
      : await askStore({ url: machineAddress(environment, audience), headers: { metadata: 'true' }, signal });
  const token = part(body, 'access_token');
  if (status !== 200 || typeof token !== 'string')
    throw new SecretProblem(`Azure issued no token to the agent (status ${status})`);
  return token;
}

function machineAddress(environment: ProcessEnvironment, audience: string): string {
  const host = (environment['AZURE_POD_IDENTITY_AUTHORITY_HOST'] || usualMetadata).replace(/\/+$/, '');
  const { AZURE_CLIENT_ID: client } = environment;
  const query = new URLSearchParams({
    'api-version': '2018-02-01',
    resource: audience,
    ...(client ? { client_id: client } : {}),
  });
  return `${host}/metadata/identity/oauth2/token?${query}`;
}

function problemOf(status: number): SecretProblem {
  if (status === 404) return new SecretProblem('the key vault has no such secret');
  if (status === 401 || status === 403)
    return new SecretProblem(
      'the key vault denies access: the agent needs the role Key Vault Secrets User, or the secret is disabled',
    );
  return new SecretProblem(`the key vault answered with status ${status}`);
}

/** Opens the store for one run. */
export function openAzure({ settings, environment }: StoreOptions): SecretStore {
  const address = settings.azureVaultAddress;
  let token: Promise<string> | undefined;
  return {
    async read(written, signal): Promise<StoreSecret> {
      const { name, key } = nameAndKey(written);
      const { secret, vault } = placeOf(name);
      token ??= readToken(environment, audienceOf(address), signal);
      const { status, body } = await askStore({
        url: `${address.replace('{vault}', vault)}/secrets/${secret}?api-version=7.4`,
        headers: { authorization: `Bearer ${await token}` },
        signal,
      });
      if (status !== 200) throw problemOf(status);
      const text = part(body, 'value');
      if (typeof text !== 'string') throw new SecretProblem('the secret has no value');
      return { text: fieldOf(text, key) };
    },
  };
}
