/**
 * Asks a provider registry, or a network mirror, what it has, and fetches a package. What is handed on has
 * the checksum that the registry's own list gives, and that list carries a signature of a key that the
 * registry names: as the tools themselves check it.
 */
import { fetchBytes, fetchFile, type FetchLimits } from '../network/fetch-bounded.ts';
import { type ProviderPackage, nameOf } from './provider-package.ts';

/** Where packages of one host come from. */
export type Upstream =
  /** Address of the service `providers.v1`, with a slash at its end. */
  | { readonly kind: 'registry'; readonly url: string; readonly needsSignature: boolean }
  /** Address of a network mirror, with a slash at its end. */
  | { readonly kind: 'mirror'; readonly url: string };

export interface FetchedPackage {
  /** SHA-256 of the zip file, hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  /** Hashes that the registry vouches for, of all platforms, as lock files hold them. */
  readonly hashes: readonly string[];
  /** Ids of the keys that signed the checksums; empty where nothing is signed. */
  readonly keys: readonly string[];
}

const listLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 300, bytes: 20_000_000 };
const packageLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 3600, bytes: 8 * 1024 ** 3 };

/**
 * The versions that a registry or mirror has, as the registry protocol lists them; the bytes are passed on as
 * they are where they can be.
 */
export async function fetchVersions(
  upstream: Upstream,
  one: Pick<ProviderPackage, 'host' | 'namespace' | 'type'>,
  signal: AbortSignal,
): Promise<Buffer> {
  if (upstream.kind === 'registry')
    return fetchList(`${upstream.url}${one.namespace}/${one.type}/versions`, signal);
  const index = await fetchJson<{ versions?: Record<string, unknown> }>(
    `${mirrorFolder(upstream.url, one)}index.json`,
    signal,
  );
  const versions = Object.keys(index.versions ?? {}).map((version) => ({ version }));
  return Buffer.from(JSON.stringify({ versions }));
}

/**
 * Fetches a package into a file and checks it.
 * @throws an Error that names the package and what is wrong with it; the file is then worth nothing
 */
export async function fetchPackage(
  upstream: Upstream,
  one: ProviderPackage,
  file: string,
  signal: AbortSignal,
): Promise<FetchedPackage> {
  try {
    return upstream.kind === 'registry'
      ? await fromRegistry(upstream, one, file, signal)
      : await fromMirror(upstream.url, one, file, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(
      `provider ${nameOf(one)} for ${one.platform}: ${(error as Error).message}; nothing of it was installed`,
      {
        cause: error,
      },
    );
  }
}

interface Download {
  readonly filename?: string;
  readonly download_url?: string;
  readonly shasum?: string;
  readonly shasums_url?: string;
  readonly shasums_signature_url?: string;
  readonly signing_keys?: {
    readonly gpg_public_keys?: readonly { readonly ascii_armor?: string; readonly key_id?: string }[];
  };
}

async function fromRegistry(
  { url, needsSignature }: Extract<Upstream, { kind: 'registry' }>,
  one: ProviderPackage,
  file: string,
  signal: AbortSignal,
): Promise<FetchedPackage> {
  const about = `${url}${one.namespace}/${one.type}/${one.version}/download/${one.platform.replace('_', '/')}`;
  const told = await fetchJson<Download>(about, signal);
  const {
    filename,
    download_url: download,
    shasums_url: sumsUrl,
    shasums_signature_url: signatureUrl,
  } = told;
  if (!filename || !download || !sumsUrl || !signatureUrl || !/^[0-9a-f]{64}$/.test(told.shasum ?? ''))
    throw new Error(`${new URL(about).origin} does not say where its file, checksums and signature are`);
  const at = (address: string) => new URL(address, about).href;
  const [sums, signature] = await Promise.all([
    fetchList(at(sumsUrl), signal),
    fetchList(at(signatureUrl), signal),
  ]);
  const armoured = (told.signing_keys?.gpg_public_keys ?? []).flatMap((key) =>
    key.ascii_armor ? [key.ascii_armor] : [],
  );
  const keys =
    armoured.length === 0 && !needsSignature ? [] : await checkSignature(sums, signature, armoured);
  const list = readSums(sums.toString('utf8'));
  const expected = list.get(filename);
  if (expected === undefined)
    throw new Error(`its checksum is missing in the signed list of checksums (${filename})`);
  if (expected !== told.shasum)
    throw new Error('its checksum in the signed list is not the one that the registry tells');
  const fetched = await fetchFile({ url: at(download), limits: packageLimits, signal }, file);
  if (fetched.sha256 !== expected)
    throw new Error(`the file has the checksum ${fetched.sha256} and must have ${expected}`);
  return { ...fetched, hashes: [...list.values()].map((sum) => `zh:${sum}`), keys };
}

async function fromMirror(
  url: string,
  one: ProviderPackage,
  file: string,
  signal: AbortSignal,
): Promise<FetchedPackage> {
  const folder = mirrorFolder(url, one);
  const told = await fetchJson<{ archives?: Record<string, { url?: string; hashes?: string[] }> }>(
    `${folder}${one.version}.json`,
    signal,
  );
  const archive = told.archives?.[one.platform];
  if (!archive?.url) throw new Error(`the mirror ${url} has no package of it for this platform`);
  const sums = (archive.hashes ?? []).filter((hash) => /^zh:[0-9a-f]{64}$/.test(hash));
  if (sums.length === 0)
    throw new Error(
      `the mirror ${url} gives no checksum (zh:…) of it: make the mirror with "terraform providers mirror"`,
    );
  const fetched = await fetchFile(
    { url: new URL(archive.url, folder).href, limits: packageLimits, signal },
    file,
  );
  if (!sums.includes(`zh:${fetched.sha256}`))
    throw new Error(`the file has the checksum ${fetched.sha256} and must have ${sums.join(' or ')}`);
  return { ...fetched, hashes: sums, keys: [] };
}

function mirrorFolder(
  url: string,
  { host, namespace, type }: Pick<ProviderPackage, 'host' | 'namespace' | 'type'>,
): string {
  return `${url}${host}/${namespace}/${type}/`;
}

/** @returns the ids of the keys that signed. @throws an Error where none of the registry's keys did */
async function checkSignature(
  sums: Buffer,
  binarySignature: Buffer,
  armoured: readonly string[],
): Promise<string[]> {
  // Loaded by the runs alone that fetch something.
  const { createMessage, readKeys, readSignature, verify } = await import('openpgp');
  if (armoured.length === 0) throw new Error('the registry names no key that its checksums are signed with');
  const signature = await readSignature({ binarySignature }).catch(() => {
    throw new Error('the signature of its checksums cannot be read');
  });
  const verificationKeys = (
    await Promise.all(armoured.map((armoredKeys) => readKeys({ armoredKeys }).catch(() => [])))
  ).flat();
  const message = await createMessage({ binary: sums });
  // A key may have expired since: what it signed while it was valid stays signed.
  const date = signature.packets[0]?.created ?? new Date();
  const { signatures } = await verify({ message, signature, verificationKeys, date });
  const checked = await Promise.allSettled(
    signatures.map(async ({ verified, keyID }) => (await verified, keyID.toHex().toUpperCase())),
  );
  const keys = checked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (keys.length === 0)
    throw new Error('the signature of its checksums is not one of a key that the registry names');
  return keys;
}

/** Lines of `sha256sum`: the checksum, two blanks, the file's name. */
function readSums(text: string): Map<string, string> {
  const lines = text.split('\n').map((line) => /^([0-9a-f]{64}) [ *](\S+)$/.exec(line.trim()));
  return new Map(lines.flatMap((line) => (line?.[1] && line[2] ? [[line[2], line[1]] as const] : [])));
}

async function fetchList(url: string, signal: AbortSignal): Promise<Buffer> {
  return (await fetchBytes({ url, limits: listLimits, signal })).body;
}

async function fetchJson<Value>(url: string, signal: AbortSignal): Promise<Value> {
  const bytes = await fetchList(url, signal);
  try {
    return JSON.parse(bytes.toString('utf8')) as Value;
  } catch {
    throw new Error(`${new URL(url).origin} answers with something that is not JSON`);
  }
}

/**
 * Asks a host for its services.
 * @returns the address of each service that is one, or null where the host does not tell
 */
export async function discoverServices(
  host: string,
  signal: AbortSignal,
): Promise<Record<string, string> | null> {
  const base = `https://${host}/.well-known/terraform.json`;
  try {
    const services = await fetchJson<Record<string, unknown>>(base, signal);
    const addresses = Object.entries(services).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return Object.fromEntries(addresses.map(([name, address]) => [name, new URL(address, base).href]));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
