/**
 * Queries a provider registry or a network mirror, and fetches packages. As in the tools, a package's
 * checksum must be in the registry's list, which must be signed with a key that the registry names.
 */
import { type FetchLimits, FetchProblem, fetchBytes, fetchFile } from '../network/fetch-bounded.ts';
import type { TrustedHosts } from '../network/guarded-fetch.ts';
import { nameOf, type ProviderPackage } from './provider-package.ts';

/** Request of an address. */
export interface RequestOptions {
  readonly signal: AbortSignal;
  /** The operator's hosts; all others must have public addresses. */
  readonly trusted: TrustedHosts;
}

/** The source of one host's packages. */
export type Upstream =
  /** Address of the service `providers.v1`, with a slash at its end. */
  | {
      readonly kind: 'registry';
      readonly url: string;
      readonly needsSignature: boolean;
      readonly trusted: TrustedHosts;
    }
  /** Address of a network mirror, with a slash at its end. */
  | { readonly kind: 'mirror'; readonly url: string; readonly trusted: TrustedHosts };

export interface FetchedPackage {
  /** SHA-256 of the zip file, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** Hashes of all platforms that the registry vouches for, in the form of lock files. */
  readonly hashes: readonly string[];
  /** Ids of the keys that signed the checksums; empty if they are not signed. */
  readonly keys: readonly string[];
}

const listLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 300, bytes: 20_000_000 };
const packageLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 3600, bytes: 8 * 1024 ** 3 };

/**
 * The versions that a registry or mirror has, in the form of the registry protocol; a registry's bytes are
 * passed on unchanged.
 */
export async function fetchVersions(
  upstream: Upstream,
  one: Pick<ProviderPackage, 'host' | 'namespace' | 'type'>,
  signal: AbortSignal,
): Promise<Buffer> {
  const { trusted } = upstream;
  if (upstream.kind === 'registry')
    return checkVersions(
      await fetchList(`${upstream.url}${one.namespace}/${one.type}/versions`, { signal, trusted }),
    );
  const index = await fetchJson<{ versions?: Record<string, unknown> }>(
    `${mirrorFolder(upstream.url, one)}index.json`,
    { signal, trusted },
  );
  const versions = Object.keys(index.versions ?? {}).map((version) => ({ version }));
  return Buffer.from(JSON.stringify({ versions }));
}

/**
 * Fetches a package into a file and checks it.
 * @throws an Error that names the package and the problem; the file must then not be used
 */
export async function fetchPackage(
  upstream: Upstream,
  one: ProviderPackage,
  file: string,
  signal: AbortSignal,
): Promise<FetchedPackage> {
  try {
    return upstream.kind === 'registry'
      ? await fromRegistry(upstream, one, file, { signal, trusted: upstream.trusted })
      : await fromMirror(upstream.url, one, file, { signal, trusted: upstream.trusted });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(
      `provider ${nameOf(one)} for ${one.platform}: ${(error as Error).message}; nothing was installed`,
      {
        cause: error,
      },
    );
  }
}

interface ProviderDownload {
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
  options: RequestOptions,
): Promise<FetchedPackage> {
  const about = `${url}${one.namespace}/${one.type}/${one.version}/download/${one.platform.replace('_', '/')}`;
  const metadata = await fetchJson<ProviderDownload>(about, options);
  const {
    filename,
    download_url: download,
    shasums_url: sumsUrl,
    shasums_signature_url: signatureUrl,
  } = metadata;
  if (!filename || !download || !sumsUrl || !signatureUrl || !/^[0-9a-f]{64}$/.test(metadata.shasum ?? ''))
    throw new Error(
      `${new URL(about).origin} does not report the addresses of its file, checksums and signature`,
    );
  const at = (address: string) => new URL(address, about).href;
  const [sums, signature] = await Promise.all([
    fetchList(at(sumsUrl), options),
    fetchList(at(signatureUrl), options),
  ]);
  const armoured = (metadata.signing_keys?.gpg_public_keys ?? []).flatMap((key) =>
    key.ascii_armor ? [key.ascii_armor] : [],
  );
  const keys =
    armoured.length === 0 && !needsSignature ? [] : await checkSignature(sums, signature, armoured);
  const list = readSums(sums.toString('utf8'));
  const expected = list.get(filename);
  if (expected === undefined)
    throw new Error(`its checksum is missing from the signed list of checksums (${filename})`);
  if (expected !== metadata.shasum)
    throw new Error('its checksum in the signed list differs from the one that the registry reports');
  const fetched = await fetchFile({ url: at(download), limits: packageLimits, ...options }, file);
  if (fetched.sha256 !== expected)
    throw new Error(`the file has the checksum ${fetched.sha256} instead of ${expected}`);
  return { ...fetched, hashes: [...list.values()].map((sum) => `zh:${sum}`), keys };
}

async function fromMirror(
  url: string,
  one: ProviderPackage,
  file: string,
  options: RequestOptions,
): Promise<FetchedPackage> {
  const folder = mirrorFolder(url, one);
  const index = await fetchJson<{ archives?: Record<string, { url?: string; hashes?: string[] }> }>(
    `${folder}${one.version}.json`,
    options,
  );
  const archive = index.archives?.[one.platform];
  if (!archive?.url) throw new Error(`the mirror ${url} has no package for this platform`);
  const sums = (archive.hashes ?? []).filter((hash) => /^zh:[0-9a-f]{64}$/.test(hash));
  if (sums.length === 0)
    throw new Error(
      `the mirror ${url} provides no checksum (zh:…): create the mirror with "terraform providers mirror"`,
    );
  const fetched = await fetchFile(
    { url: new URL(archive.url, folder).href, limits: packageLimits, ...options },
    file,
  );
  if (!sums.includes(`zh:${fetched.sha256}`))
    throw new Error(`the file has the checksum ${fetched.sha256} instead of ${sums.join(' or ')}`);
  return { ...fetched, hashes: sums, keys: [] };
}

function mirrorFolder(
  url: string,
  { host, namespace, type }: Pick<ProviderPackage, 'host' | 'namespace' | 'type'>,
): string {
  return `${url}${host}/${namespace}/${type}/`;
}

/** @returns the ids of the signing keys. @throws an Error if none of the registry's keys signed the list */
async function checkSignature(
  sums: Buffer,
  binarySignature: Buffer,
  armoured: readonly string[],
): Promise<string[]> {
  // Loaded only by runs that fetch packages.
  const { createMessage, readKeys, readSignature, verify } = await import('openpgp');
  if (armoured.length === 0) throw new Error('the registry names no key for the signature of its checksums');
  const signature = await readSignature({ binarySignature }).catch(() => {
    throw new Error('the signature of its checksums cannot be read');
  });
  const verificationKeys = (
    await Promise.all(armoured.map((armoredKeys) => readKeys({ armoredKeys }).catch(() => [])))
  ).flat();
  const message = await createMessage({ binary: sums });
  // The key may have expired: signatures made while it was valid still count.
  const date = signature.packets[0]?.created ?? new Date();
  const { signatures } = await verify({ message, signature, verificationKeys, date });
  const checked = await Promise.allSettled(
    signatures.map(async ({ verified, keyID }) => (await verified, keyID.toHex().toUpperCase())),
  );
  const keys = checked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (keys.length === 0)
    throw new Error('the signature of its checksums was not made with a key that the registry names');
  return keys;
}

/** Parses lines of `sha256sum`: the checksum, two blanks, the file's name. */
function readSums(text: string): Map<string, string> {
  const lines = text.split('\n').map((line) => /^([0-9a-f]{64}) [ *](\S+)$/.exec(line.trim()));
  return new Map(lines.flatMap((line) => (line?.[1] && line[2] ? [[line[2], line[1]] as const] : [])));
}

async function fetchList(url: string, options: RequestOptions): Promise<Buffer> {
  return (await fetchBytes({ url, limits: listLimits, ...options })).body;
}

async function fetchJson<Value>(url: string, options: RequestOptions): Promise<Value> {
  const bytes = await fetchList(url, options);
  try {
    return JSON.parse(bytes.toString('utf8')) as Value;
  } catch {
    throw new Error(`${new URL(url).origin} answered with something other than JSON`);
  }
}

/** The run gets nothing else than a list of versions. */
function checkVersions(bytes: Buffer): Buffer {
  let reply: unknown;
  try {
    reply = JSON.parse(bytes.toString('utf8'));
  } catch {
    reply = null;
  }
  if (
    typeof reply === 'object' &&
    reply !== null &&
    Array.isArray((reply as { versions?: unknown }).versions)
  )
    return bytes;
  throw new FetchProblem('its registry answered with something other than a list of versions');
}

/**
 * Queries the services of a host.
 * @returns the address of each service, without those that must not be used; null if the host does not report
 * them
 */
export async function discoverServices(
  host: string,
  { signal, trusted }: RequestOptions,
): Promise<Record<string, string> | null> {
  const base = `https://${host}/.well-known/terraform.json`;
  try {
    const services = await fetchJson<Record<string, unknown>>(base, { signal, trusted });
    const addresses = Object.entries(services).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return Object.fromEntries(
      addresses
        .map(([name, address]) => [name, new URL(address, base)] as const)
        .filter(([, url]) => url.protocol === 'https:' || trusted.has(url.host) || trusted.has(url.hostname))
        .map(([name, url]) => [name, url.href]),
    );
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
