/**
 * Checks out a revision of a git repository into an empty folder, shallow, under the slot's uid, with its
 * submodules and LFS files. Access that needs the agent's own rights (a local repository, a key for ssh)
 * happens in a separate process, joined to the slot's git through a socket: the slot needs no such access,
 * and its git does not run with the agent's rights.
 */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { accessTo, addressOf } from '#guards/git/repository-access.ts';
import { isClonable, revisionName } from '#guards/git/revision-name.ts';
import { pathRefusal, revisionRefusal } from '#guards/source-guards.ts';
import { type CheckoutRequest, expectGood, type Fetching, fetchRevision } from './git-calls.ts';
import { cloneInPart } from './partial-clone.ts';
import { fetchParts, findParts, type TreeParts } from './tree-parts.ts';

/** As returned by `gitMetadata`; `branch` is the tag or commit if no branch was requested. */
export interface CheckedOut {
  readonly commit: string;
  readonly branch: string;
  /** Committer date, ISO 8601. */
  readonly timestamp: string;
}

/**
 * @throws an Error whose message names the field (repository, token, sshKeys, revision, path) and what to do
 */
export async function checkOut(request: CheckoutRequest): Promise<CheckedOut> {
  const { source, folder } = request;
  const refusal =
    (source.revision === undefined ? null : revisionRefusal(source.revision)) ??
    (source.path === undefined ? null : pathRefusal(source.path));
  if (refusal !== null) throw new Error(refusal);
  const { revision } = source;
  const access = accessTo(source, source.repository);
  const { ifMissing } = request;
  const fetching: Fetching = {
    repository: source.repository,
    revision: source.revision,
    access,
    folder,
    ...(ifMissing === undefined ? {} : { ifMissing }),
  };
  const isName = revision === undefined || isClonable(revision);
  if (request.cloneArguments.isSparse || request.cloneArguments.filter !== null)
    await cloneInPart(request, fetching, isName, revision);
  else if (isName) await clone(request, fetching, revision);
  else await fetchRevision(request, fetching, revision);
  const [found, parts] = await Promise.all([
    describe(request, fetching, revision),
    hasNoParts(request).then((hasNone) => (hasNone ? none : findParts(request, folder))),
  ]);
  await fetchParts(request, fetching, parts);
  return found;
}

const none: TreeParts = { hasSubmodules: false, lfsFiles: [] };
/** About ten thousand files. A larger one takes longer to pass on than a command to start. */
const maxIndexBytes = 1 << 20;

/**
 * Whether no file of the checkout can name submodules or LFS files, which saves a command for most repositories:
 * the names of such files are nowhere in the index. Attributes come from nowhere else.
 */
async function hasNoParts({ cloneArguments, bytesOf }: CheckoutRequest): Promise<boolean> {
  if (cloneArguments.isSparse) return false;
  const bytes = await bytesOf('.git/index', maxIndexBytes + 1);
  if (bytes === null || bytes.length > maxIndexBytes) return false;
  const index = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // In these versions, which are git's default, each name is written in full.
  const isPlain = index.toString('latin1', 0, 4) === 'DIRC' && [2, 3].includes(index.readUInt32BE(4));
  return isPlain && !index.includes('.gitattributes') && !index.includes('.gitmodules');
}

async function clone(
  { git, cloneArguments }: CheckoutRequest,
  fetching: Fetching,
  revision: string | undefined,
): Promise<void> {
  const branch = revision === undefined ? [] : [`--branch=${revision}`];
  const args = [
    'clone',
    '--progress',
    ...cloneArguments.clone,
    '--no-recurse-submodules',
    '--template=',
    ...branch,
    '--',
    addressOf(fetching.access),
    fetching.folder,
  ];
  expectGood(await git({ label: 'git clone', args, access: fetching.access }), fetching);
}

async function describe(
  request: CheckoutRequest,
  fetching: Fetching,
  revision: string | undefined,
): Promise<CheckedOut> {
  const { branch, ...found } = (await readCommit(request)) ?? (await showCommit(request, fetching));
  return { ...found, branch: revision === undefined ? (branch ?? 'HEAD') : revisionName(revision) };
}

async function showCommit({ git }: CheckoutRequest, fetching: Fetching): Promise<CommitFacts> {
  const end = await git({
    label: 'git log',
    args: ['-C', fetching.folder, 'log', '-1', '--no-show-signature', '--format=%H%n%cI%n%D', 'HEAD', '--'],
    isCaptured: true,
  });
  expectGood(end, fetching);
  const [commit = '', timestamp = '', names = ''] = end.output.split('\n');
  return { commit, branch: /HEAD -> ([^,]+)/.exec(names)?.[1] ?? null, timestamp };
}

interface CommitFacts {
  readonly commit: string;
  /** Null if no branch is checked out. */
  readonly branch: string | null;
  /** Committer date, ISO 8601. */
  readonly timestamp: string;
}

const packFolder = '.git/objects/pack';
const packHeaderBytes = 12;
/** Enough for all but the longest messages. */
const beginningBytes = 16 << 10;
const maxCommitBytes = 1 << 20;
/** Of an object in a pack: three bits of its first byte. */
const commitType = 1;

/**
 * The commit of a fresh clone, read from its files, which saves a command for most repositories: the files of a
 * clone are in one pack, in which git usually writes the newest commit first. The commit's id proves that it is
 * the right one.
 * @returns null if the commit is stored in another way: git can read it
 */
async function readCommit(
  request: Pick<CheckoutRequest, 'bytesOf' | 'namesIn'>,
): Promise<CommitFacts | null> {
  const [head, pack] = await Promise.all([readHead(request), beginningOfPack(request)]);
  if (head === null || pack === null) return null;
  const text = firstCommit(pack, head.commit);
  const timestamp = text === null ? null : committedAt(text);
  return timestamp === null ? null : { ...head, timestamp };
}

async function readHead({
  bytesOf,
}: Pick<CheckoutRequest, 'bytesOf'>): Promise<Omit<CommitFacts, 'timestamp'> | null> {
  const textOf = async (path: string) =>
    Buffer.from((await bytesOf(`.git/${path}`, beginningBytes)) ?? []).toString();
  const head = await textOf('HEAD');
  const branch = /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1] ?? null;
  const id = branch === null ? head : await textOf(`refs/heads/${branch}`);
  const commit = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.exec(id)?.[1];
  return commit === undefined ? null : { commit, branch };
}

async function beginningOfPack({
  bytesOf,
  namesIn,
}: Pick<CheckoutRequest, 'bytesOf' | 'namesIn'>): Promise<Uint8Array | null> {
  const packs = (await namesIn(packFolder)).filter((name) => name.endsWith('.pack'));
  return packs.length === 1 ? bytesOf(`${packFolder}/${packs[0]}`, beginningBytes) : null;
}

/** The text of the first object in a pack, if it is this commit. */
function firstCommit(pack: Uint8Array, commit: string): string | null {
  let at = packHeaderBytes;
  const [type = 0] = pack.subarray(at);
  if (((type >> 4) & 7) !== commitType) return null;
  // The size follows, in bytes with a continuation bit.
  while (((pack[at] ?? 0) & 0x80) !== 0) at += 1;
  const text = inflated(pack.subarray(at + 1));
  if (text === null) return null;
  const hash = createHash(commit.length === 40 ? 'sha1' : 'sha256').update(`commit ${text.length}\0`);
  return hash.update(text).digest('hex') === commit ? text.toString() : null;
}

function inflated(bytes: Uint8Array): Buffer | null {
  try {
    return inflateSync(bytes, { maxOutputLength: maxCommitBytes });
  } catch {
    // It is longer than what was read.
    return null;
  }
}

function committedAt(commit: string): string | null {
  const [header = ''] = commit.split('\n\n', 1);
  const found = /^committer .*> (\d{1,11}) ([+-])(\d\d)([0-5]\d)$/m.exec(header);
  if (found === null) return null;
  const [, seconds, sign, hours, minutes] = found;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60);
  return `${new Date((Number(seconds) + offset) * 1000).toISOString().slice(0, 19)}${sign}${hours}:${minutes}`;
}
