/**
 * The commit of a fresh clone, read from its files, which saves a command for most repositories: the files of a
 * clone are in one pack, in which git usually writes the newest commit first. The commit's id proves that it is
 * the right one.
 */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import type { CheckoutRequest } from './git-calls.ts';

export interface CommitFacts {
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

/** @returns null if the commit is stored in another way: git can read it */
export async function readCommit(
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
