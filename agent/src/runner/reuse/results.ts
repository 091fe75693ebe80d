/**
 * Results of installing commands, in a folder that only the agent can read, shared by all its runners:
 *
 *   <key>.json   the SHA-256 of the rest, a line end, and results as JSON, the newest first
 *
 * The key is a hash of all that the results depend on apart from the code, which each names. A file appears complete by
 * one rename: of two that are written at once, only the results of the later one stay. Its modification time is its last
 * use.
 */
import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import type { LinkedPackage } from '../../providers/install-providers.ts';

export interface CachedResult {
  /** When the command ran, ISO 8601. */
  readonly at: string;
  /** Its output, without the secrets of its run. */
  readonly log: string;
  /** Contents by name, relative to the configuration's folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly packages: readonly LinkedPackage[];
  /** Commit, or checksum of an upload. */
  readonly code: string;
  /** Folders of the tree in which the command has read code. */
  readonly folders: readonly string[];
  /** Hash of the part of this code that the result depends on, and of the lock file; null: all of it may matter. */
  readonly codeHash: string | null;
}

const maxBytes = 256_000;
const maxFiles = 200;
/** Of one key: the branches of a repository, for example. */
const maxResults = 8;
const maxAgeMilliseconds = 7 * 24 * 3_600_000;

function fileOf(folder: string, key: string): string {
  return join(folder, `${key}.json`);
}

/** @returns those that are not old, the newest first; a file without any, or a damaged one, is removed */
export function readResults(folder: string, key: string): CachedResult[] {
  const file = fileOf(folder, key);
  try {
    const text = readFileSync(file, 'utf8');
    const body = text.slice(65);
    if (sha256(body) !== text.slice(0, 64)) throw new Error('the file is damaged');
    utimesSync(file, new Date(), new Date());
    const earliest = Date.now() - maxAgeMilliseconds;
    const results = (JSON.parse(body) as CachedResult[]).filter(({ at }) => Date.parse(at) >= earliest);
    if (results.length === 0) throw new Error('the results are old');
    return results;
  } catch {
    removeResults(folder, key);
    return [];
  }
}

/** Stores a result unless it is too large, and removes the oldest and least recently used ones above the limits. */
export function writeResult(folder: string, key: string, result: CachedResult): void {
  const others = readResults(folder, key).filter(
    ({ code, codeHash }) => code !== result.code && (codeHash === null || codeHash !== result.codeHash),
  );
  const results = [result, ...others].slice(0, maxResults);
  while (Buffer.byteLength(JSON.stringify(results)) > maxBytes) {
    results.pop();
    if (results.length === 0) return;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceResults(folder, key, results);
  removeOthers(folder);
}

function replaceResults(folder: string, key: string, results: readonly CachedResult[]): void {
  const body = JSON.stringify(results);
  const unfinished = join(folder, `${randomUUID()}.new`);
  writeFileSync(unfinished, `${sha256(body)}\n${body}`, { mode: 0o600, flag: 'wx' });
  renameSync(unfinished, fileOf(folder, key));
}

/** Removes a result that cannot be used. */
export function removeResult(folder: string, key: string, { code }: CachedResult): void {
  const others = readResults(folder, key).filter((other) => other.code !== code);
  if (others.length === 0) removeResults(folder, key);
  else replaceResults(folder, key, others);
}

function removeResults(folder: string, key: string): void {
  try {
    rmSync(fileOf(folder, key), { force: true });
  } catch {
    // That of an agent with another user, for example: it is not used.
  }
}

function removeOthers(folder: string): void {
  const files = readdirSync(folder).flatMap((name) => {
    const status = statSync(join(folder, name), { throwIfNoEntry: false });
    return status === undefined ? [] : [{ path: join(folder, name), usedAt: status.mtimeMs }];
  });
  const oldest = files.sort((left, right) => right.usedAt - left.usedAt).slice(maxFiles);
  for (const { path } of oldest) rmSync(path, { force: true });
}
