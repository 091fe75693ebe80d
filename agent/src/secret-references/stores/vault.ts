/**
 * `${vault:<path>.<key>@<namespace>}`: HashiCorp Vault and OpenBao, over HTTP. The path is what `vault kv get` or
 * `vault read` accepts; the mount tells whether the key-value engine has version 1 or 2. The namespace is optional.
 * One path is read once per run, so that all keys of a generated credential belong together.
 */
import { readFile } from 'node:fs/promises';
import { part } from '#clouds/exchange.ts';
import { askStore } from './ask-store.ts';
import {
  SecretProblem,
  type SecretStore,
  type StoreOptions,
  type StoreSecret,
  textOfField,
} from './secret-store.ts';

interface VaultPath {
  readonly path: string;
  readonly namespace: string;
}

interface Secret {
  readonly fields: unknown;
  readonly leaseSeconds?: number;
}

type VaultRequest = (path: string, namespace: string) => ReturnType<typeof askStore>;

/**
 * The parts of a name: the path, the key after its last dot, and the namespace, which is empty where it is left out.
 * @throws SecretProblem for a name that has another form
 */
export function placeOf(name: string): VaultPath & { readonly key: string } {
  const [, path, key, namespace = ''] = /^(.+)\.([^.@]+)(?:@(.*))?$/s.exec(name) ?? [];
  if (path === undefined || key === undefined)
    throw new SecretProblem('the reference must have the form ${vault:<path>.<key>@<namespace>}');
  const segments = path.split('/');
  if (/[\p{Cc}?#%\\]/u.test(path) || segments.some((one) => ['', '.', '..'].includes(one)))
    throw new SecretProblem('the path of the reference has an empty segment or an unusual character');
  if (!/^[\w./-]*$/.test(namespace))
    throw new SecretProblem('the namespace of the reference may contain letters, digits and _ - . / only');
  return { path, key, namespace };
}

/** The path of the HTTP interface: version 2 of the key-value engine has its secrets below `data/`. */
async function pathToRead({ path, namespace }: VaultPath, ask: VaultRequest): Promise<string> {
  const { status, body } = await ask(`sys/internal/ui/mounts/${path}`, namespace);
  refuseStatus(status, [400, 403, 404]);
  const mount = part(body, 'data', 'path');
  if (status !== 200 || typeof mount !== 'string' || part(body, 'data', 'options', 'version') !== '2')
    return path;
  const inside = path.slice(mount.length);
  return inside.startsWith('data/') ? path : `${mount}data/${inside}`;
}

async function read(place: VaultPath, ask: VaultRequest): Promise<Secret> {
  const { status, body } = await ask(await pathToRead(place, ask), place.namespace);
  refuseStatus(status, []);
  const data = part(body, 'data');
  const isVersioned = part(data, 'metadata', 'version') !== undefined;
  const lease = part(body, 'lease_id');
  const seconds = part(body, 'lease_duration');
  const isLent = typeof lease === 'string' && lease !== '' && typeof seconds === 'number';
  return { fields: isVersioned ? part(data, 'data') : data, ...(isLent ? { leaseSeconds: seconds } : {}) };
}

function refuseStatus(status: number, others: readonly number[]): void {
  if (status === 200 || others.includes(status)) return;
  if (status === 403)
    throw new SecretProblem(
      'Vault denies access: the token in ENVARIUM_VAULT_TOKEN_FILE has expired, or its policies do not allow to read this path',
    );
  if (status === 404) throw new SecretProblem('Vault has no secret at this path, or its version was deleted');
  if (status === 503) throw new SecretProblem('Vault is sealed or under maintenance');
  throw new SecretProblem(`Vault answered with status ${status}`);
}

async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SecretProblem(
      `the file of ENVARIUM_VAULT_TOKEN_FILE cannot be read (${error.code ?? 'error'})`,
    );
  });
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new SecretProblem('the file of ENVARIUM_VAULT_TOKEN_FILE does not contain a token');
  return token;
}

/** Opens the store for one run. */
export function openVault({ settings }: StoreOptions): SecretStore {
  const { vaultAddress, vaultTokenFile } = settings;
  const secrets = new Map<string, Promise<Secret>>();
  return {
    async read(name, signal): Promise<StoreSecret> {
      const place = placeOf(name);
      if (vaultAddress === undefined || vaultTokenFile === undefined) {
        const missing = vaultAddress === undefined ? 'ENVARIUM_VAULT_ADDRESS' : 'ENVARIUM_VAULT_TOKEN_FILE';
        throw new SecretProblem(`${missing} is not set for the agent`);
      }
      const ask: VaultRequest = async (path, namespace) =>
        askStore({
          url: `${vaultAddress}/v1/${path.split('/').map(encodeURIComponent).join('/')}`,
          headers: {
            'x-vault-token': await readToken(vaultTokenFile),
            'x-vault-request': 'true',
            ...(namespace === '' ? {} : { 'x-vault-namespace': namespace }),
          },
          signal,
        });
      const key = JSON.stringify([place.path, place.namespace]);
      const secret = secrets.get(key) ?? read(place, ask);
      secrets.set(key, secret);
      const { fields, ...rest } = await secret;
      return { text: textOfField(fields, place.key), ...rest };
    },
  };
}
