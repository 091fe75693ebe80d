/**
 * Results of installing commands, in a folder that only the agent can read, shared by all its runners:
 *
 *   <key>.json   the SHA-256 of the rest, a line end, and a result as JSON
 *
 * The key is a hash of all that the result depends on. A file appears complete by one rename. Its modification time is
 * its last use.
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
}

const maxBytes = 256_000;
const maxResults = 200;
const maxAgeMilliseconds = 7 * 24 * 3_600_000;

function fileOf(folder: string, key: string): string {
  return join(folder, `${key}.json`);
}

/** @returns null if there is no result, or it is damaged or old, and is removed */
export function readResult(folder: string, key: string): CachedResult | null {
  const file = fileOf(folder, key);
  try {
    const text = readFileSync(file, 'utf8');
    const body = text.slice(65);
    if (sha256(body) !== text.slice(0, 64)) throw new Error('the file is damaged');
    const result = JSON.parse(body) as CachedResult;
    if (Date.parse(result.at) < Date.now() - maxAgeMilliseconds) throw new Error('the result is old');
    utimesSync(file, new Date(), new Date());
    return result;
  } catch {
    removeResult(folder, key);
    return null;
  }
}

/** Stores a result unless it is too large, and removes the least recently used ones above the limit. */
export function writeResult(folder: string, key: string, result: CachedResult): void {
  const body = JSON.stringify(result);
  if (Buffer.byteLength(body) > maxBytes) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unfinished = join(folder, `${randomUUID()}.new`);
  writeFileSync(unfinished, `${sha256(body)}\n${body}`, { mode: 0o600, flag: 'wx' });
  renameSync(unfinished, fileOf(folder, key));
  removeOthers(folder);
}

/** Removes a result that cannot be used. */
export function removeResult(folder: string, key: string): void {
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
  const oldest = files.sort((left, right) => right.usedAt - left.usedAt).slice(maxResults);
  for (const { path } of oldest) rmSync(path, { force: true });
}
