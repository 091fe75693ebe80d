/** Fetches a release that is published as a file: its checksum, the signature of that, the archive, the program. */
import { join } from 'node:path';
import {
  type Archive,
  type ArchiveRelease,
  isSigned,
  type ReleasePlace,
  type SignatureFacts,
} from '#protocol/tools/programs/program.ts';
import {
  type FetchLimits,
  FetchProblem,
  type FetchRequest,
  fetchBytes,
  fetchFile,
} from '../network/fetch-bounded.ts';
import { removeFolder } from '../spool/write-file.ts';
import { readBareChecksum, readChecksums } from './checksums.ts';
import { type BuiltRelease, type FetchContext, ReleaseProblem } from './fetch-context.ts';
import type { ReleaseName } from './tool-cache.ts';
import type { ReleaseOrigin } from './tool-mirror.ts';
import type { UnpackedPrograms } from './unpack-program.ts';
import { BadSignature, type Signer, shortKeyIds, verifySignature } from './verify-signature.ts';

const megabyte = 1024 * 1024;
const smallLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 60, bytes: megabyte };
const archiveLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 1800, bytes: 1024 * megabyte };

/**
 * Fetches and checks the program of a release.
 * @param folder receives the program
 * @throws ReleaseProblem, FetchProblem, the signal's reason, and errors of the file system
 */
export async function fetchArchive(
  context: FetchContext,
  origin: ReleaseOrigin,
  source: ArchiveRelease,
  release: ReleaseName,
  folder: string,
): Promise<BuiltRelease> {
  const { program, version, platform } = release;
  const archive = source.archive(version, platform);
  const place = source.checksums(version, platform);
  const checksums = (await get(context, origin, place)).body;
  const signer = isSigned(source)
    ? await checkSignature(context, origin, source.signature, version, { place, content: checksums })
    : null;
  const text = new TextDecoder().decode(checksums);
  const expected = place.isBare ? readBareChecksum(text) : checksumOf(text, archive, release);
  const url = origin.url(archive);
  context.log(`Fetching ${url}`);
  const file = join(folder, 'archive');
  const fetched = await fetchFile(requestOf(context, origin, archive, archiveLimits), file);
  if (fetched.sha256 !== expected)
    throw new ReleaseProblem(
      `${url} does not match its checksum: SHA-256 ${fetched.sha256} instead of ${expected}, ${fetched.bytes} bytes`,
    );
  const { unpackProgram } = await import('./unpack-program.ts');
  const unpacked = await unpackProgram(file, archive, join(folder, program)).catch((cause: unknown) => {
    throw new ReleaseProblem(`${url}: ${(cause as Error).message}`, { cause });
  });
  await removeFolder(file);
  const built = {
    sha256: unpacked.sha256,
    bytes: bytesOf(unpacked),
    ...(unpacked.others === undefined ? {} : { others: hashesOf(unpacked.others) }),
  };
  if (signer === null) return { ...built, checked: `Checksum is valid (not signed by ${source.publisher})` };
  const checked = `Checksum and signature are valid (key ${signer.fingerprint}, ${signer.name})`;
  return { ...built, key: signer.fingerprint, checked };
}

function bytesOf({ bytes, others = {} }: UnpackedPrograms): number {
  return Object.values(others).reduce((sum, other) => sum + other.bytes, bytes);
}

function hashesOf(others: NonNullable<UnpackedPrograms['others']>): Record<string, string> {
  return Object.fromEntries(Object.entries(others).map(([name, { sha256 }]) => [name, sha256]));
}

function checksumOf(text: string, archive: Archive, { program, version, platform }: ReleaseName): string {
  const name = archive.path.slice(archive.path.lastIndexOf('/') + 1);
  const sums = readChecksums(text);
  const expected = sums.get(name);
  if (expected !== undefined) return expected;
  const [before = '', after = ''] = name.split(platform);
  const others = [...sums.keys()]
    .filter((each) => each.startsWith(before) && each.endsWith(after))
    .map((each) => each.slice(before.length, each.length - after.length));
  throw new ReleaseProblem(
    `there is no ${program} ${version} for ${platform}${others.length === 0 ? '' : `, only for ${others.toSorted().join(', ')}`}: choose another version`,
  );
}

/** There may be several signatures, by keys of different years: the first one by a trusted key decides. */
async function checkSignature(
  context: FetchContext,
  origin: ReleaseOrigin,
  facts: SignatureFacts,
  version: string,
  checksums: { readonly place: ReleasePlace; readonly content: Uint8Array },
): Promise<Signer> {
  const keys = origin.publicKeys ?? facts.publicKey;
  let problem = `${origin.url(checksums.place)} has no signature`;
  for (const place of facts.places(version, await shortKeyIds(keys))) {
    const signature = await get(context, origin, place).catch((error: unknown) => {
      if (error instanceof FetchProblem && (error.status === 404 || error.status === 403)) return null;
      throw error;
    });
    if (!signature) continue;
    try {
      return await verifySignature(checksums.content, signature.body, keys);
    } catch (error) {
      if (!(error instanceof BadSignature)) throw error;
      problem = `the signature ${origin.url(place)} is not valid for the checksums: ${error.message}`;
      if (!error.isOtherKey) break;
    }
  }
  throw new ReleaseProblem(`${problem}; nothing was installed`);
}

function get(context: FetchContext, origin: ReleaseOrigin, place: ReleasePlace) {
  return fetchBytes(requestOf(context, origin, place, smallLimits));
}

function requestOf(
  { signal, bounds }: FetchContext,
  origin: ReleaseOrigin,
  place: ReleasePlace,
  limits: FetchLimits,
): FetchRequest {
  return { url: origin.url(place), headers: origin.headers, limits: { ...limits, ...bounds }, signal };
}
