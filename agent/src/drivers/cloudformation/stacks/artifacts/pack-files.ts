/** Zips of files of the repository: the same for the same files, wherever and whenever they are made. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { StackProblem } from '../api/api.ts';
import { expectCode, folderOfRun } from '../api/code-files.ts';

/** Of all files of a package: AWS takes no larger ones. */
const largestBytes = 500_000_000;
const mostEntries = 100_000;

export interface PackedFile {
  readonly file: string;
  /** In the zip. */
  readonly path: string;
  readonly isExecutable: boolean;
}

/** @throws StackProblem for a path that means something else in a zip */
function expectPath(file: string, path: string): void {
  if (path.includes('\\') || /^[a-z]:/i.test(path))
    throw new StackProblem(
      `${file} cannot be packaged, because its name would mean a folder or a drive in a zip: rename it`,
    );
}

/** One file, as the only one of its zip. @throws StackProblem if it cannot be packaged */
export function packedFile(file: string): PackedFile {
  const stats = expectCode(file);
  expectPath(file, basename(file));
  return { file: realpathSync(file), path: basename(file), isExecutable: isExecutable(stats?.mode ?? 0) };
}

/** The bits that a checkout sets, not those of a machine's umask. */
function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

/**
 * All files of a folder in the order of their paths. Links are followed.
 * @throws StackProblem for a link that leads out of the repository, to files of the run or of git, or back to a folder
 * that contains it, for anything else than files and folders, and for an empty or too large folder
 */
export function filesIn(folder: string): PackedFile[] {
  const found: PackedFile[] = [];
  let bytes = 0;
  let entries = 0;
  const walk = (place: string, path: string, above: readonly string[]) => {
    const real = realpathSync(place);
    if (above.includes(real))
      throw new StackProblem(`${place} leads back to a folder that contains it: remove the link`);
    for (const name of readdirSync(place)) {
      const file = join(place, name);
      if (name === '.git') continue;
      if (!existsSync(file)) throw new StackProblem(`${file} leads to no file: correct or remove the link`);
      if (realpathSync(file) === folderOfRun()) continue;
      const stats = expectCode(file);
      const inner = path === '' ? name : `${path}/${name}`;
      expectPath(file, inner);
      entries += 1;
      if (entries > mostEntries)
        throw new StackProblem(
          `${folder} has more than ${mostEntries} files: package it before the deployment`,
        );
      if (stats?.isDirectory()) {
        walk(file, inner, [...above, real]);
        continue;
      }
      if (!stats?.isFile()) throw new StackProblem(`${file} must be a file or a folder`);
      bytes += stats.size;
      if (bytes > largestBytes)
        throw new StackProblem(
          `${folder} has more than ${largestBytes} bytes, and packages may have no more`,
        );
      found.push({ file: realpathSync(file), path: inner, isExecutable: isExecutable(stats.mode) });
    }
  };
  walk(folder, '', []);
  if (found.length === 0) throw new StackProblem(`${folder} contains no files`);
  return found.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** SHA-256 of the content of a file. */
export async function digestOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** SHA-256 of paths, contents and which files are executable: two versions of a compressor make different zips of these. */
export async function digestOfFiles(files: readonly PackedFile[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { file, path, isExecutable } of files)
    hash.update(`${JSON.stringify([path, isExecutable, await digestOfFile(file)])}\n`);
  return hash.digest('hex');
}

/** A zip whose files are readable for all, which functions of AWS need. */
export async function zipOf(files: readonly PackedFile[]): Promise<Uint8Array> {
  const zip = new ZipFile();
  const failed = new Promise<never>((_, reject) => zip.once('error', reject));
  // The local time is part of each entry, and no zip has an earlier one.
  const mtime = new Date(1980, 0, 1);
  for (const { file, path, isExecutable } of files)
    zip.addFile(file, path, {
      mtime,
      mode: isExecutable ? 0o100_755 : 0o100_644,
      forceDosTimestamp: true,
    });
  zip.end();
  return Promise.race([buffer(zip.outputStream), failed]);
}
