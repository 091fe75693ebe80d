/** A folder as a compressed archive: what git would commit, or outside a repository everything but tools' files. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { copyLinked, hasOutgoing, repositoryOf } from './copy-linked.ts';
import { BadCall } from './exit-codes.ts';

export interface PackedFolder {
  readonly archive: Uint8Array;
  readonly files: number;
}

const leftBehind = [
  '.git',
  '.terraform',
  '.terragrunt-cache',
  '*.tfstate',
  '*.tfstate.backup',
  'node_modules',
];

/** Whether the folder, or one that it is in, has what makes a repository. */
function isInRepository(folder: string): boolean {
  const path = resolve(folder);
  return existsSync(join(path, '.git')) || (dirname(path) !== path && isInRepository(dirname(path)));
}

/** A failure of git: only where there is no repository, nothing is ignored. */
function explainGit(folder: string, error: Error & { code?: unknown; stderr?: string }): BadCall | null {
  const message = error.stderr?.trim() ?? '';
  const isMissing = error.code === 'ENOENT';
  if (message.includes('not a git repository (or any') || (isMissing && !isInRepository(folder))) return null;
  const reason = isMissing
    ? 'git cannot be started. Install it: it tells which files are ignored, and are not sent.'
    : `git does not tell which files are ignored: ${message === '' ? error.message : message}`;
  return new BadCall(`The folder "${folder}" was not sent: ${reason}`, { cause: error });
}

/**
 * Names of files that git tracks or would add, ended by zeros; null without a repository.
 * @throws BadCall if git does not tell, or there are none
 */
async function namesOfGit(folder: string): Promise<string[] | null> {
  const args = ['-C', folder, 'ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  // Messages in English, and names of any encoding.
  const options = {
    encoding: 'latin1',
    maxBuffer: 256 << 20,
    env: { ...process.env, LC_ALL: 'C' },
  } as const;
  const list = await promisify(execFile)('git', args, options).catch((error: Error) => {
    const refusal = explainGit(folder, error);
    if (refusal) throw refusal;
    return null;
  });
  if (list === null) return null;
  // Files that were deleted, but not yet in a commit, are listed too.
  const names = list.stdout
    .split('\0')
    .filter((name) => name !== '' && isThere(folder, Buffer.from(name, 'latin1')));
  if (names.length === 0)
    throw new BadCall(
      `The folder "${folder}" was not sent: git would commit no file of it. Copy it out of the repository to send all of it.`,
    );
  return names;
}

/** @param excluded patterns of names */
async function packAll(folder: string, excluded: readonly string[]): Promise<Buffer> {
  const args = ['--create', '--gzip', '--file=-', `--directory=${folder}`];
  return tar([...args, ...excluded.map((name) => `--exclude=${name}`), '--', '.'], new Uint8Array());
}

/** Packs files of a folder of a repository, by names whose characters are one byte each. */
async function packNames(folder: string, names: readonly string[]): Promise<Buffer> {
  const args = ['--create', '--gzip', '--file=-', `--directory=${folder}`];
  const list = Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1');
  return tar([...args, '--null', '--no-recursion', '--files-from=-'], list);
}

/** The same, with what links in the folder lead to elsewhere in its repository. */
async function packLinked(folder: string, names: readonly string[]): Promise<Buffer> {
  const place = Buffer.from(await realpath(folder)).toString('latin1');
  const repository = await repositoryOf(place);
  if (repository === null || !(await hasOutgoing(place, names, repository))) return packNames(folder, names);
  const copy = await mkdtemp(join(tmpdir(), 'envarium-plan-'));
  try {
    const listNames = async (path: string) =>
      (await namesOfGit(Buffer.from(path, 'latin1').toString()).catch(() => null)) ?? [];
    await copyLinked(place, names, Buffer.from(copy).toString('latin1'), { repository, listNames });
    return await packAll(copy, []);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

function isThere(folder: string, name: Buffer): boolean {
  const path = Buffer.concat([Buffer.from(`${folder}/`), name]);
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A file has taken the place of its folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}

/** Runs tar with names on its standard input. @throws BadCall with tar's message */
async function tar(args: readonly string[], input: Uint8Array): Promise<Buffer> {
  const child = spawn('tar', args, { stdio: 'pipe' });
  const [parts, messages]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  child.stderr.on('data', (part: Buffer) => messages.push(part));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new BadCall(`tar cannot be started: ${error.message}`, { cause: error })),
    );
    child.once('close', resolve);
  });
  if (status === 0) return Buffer.concat(parts);
  throw new BadCall(`The folder cannot be packed: ${Buffer.concat(messages).toString('utf8').trim()}`);
}

/**
 * @param folder a path
 * @throws BadCall if it is not a folder, cannot be packed, or git does not tell what it ignores there
 */
export async function packFolder(folder: string): Promise<PackedFolder> {
  const status = await stat(folder).catch(() => null);
  if (!status?.isDirectory()) throw new BadCall(`There is no folder "${folder}".`);
  const names = await namesOfGit(folder);
  const archive = names === null ? await packAll(folder, leftBehind) : await packLinked(folder, names);
  return { archive, files: await countFiles(archive) };
}

async function countFiles(archive: Buffer): Promise<number> {
  const list = await tar(['--list', '--gzip', '--file=-'], archive);
  return list
    .toString('utf8')
    .split('\n')
    .filter((name) => name !== '' && !name.endsWith('/')).length;
}
