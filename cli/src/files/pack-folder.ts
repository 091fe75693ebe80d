/**
 * A folder as a compressed archive: what git would commit, or outside a repository everything but tools' files. Variable
 * files that are not in git often contain secrets: they are left out unless the caller wants them.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { BadCall } from '../session/exit-codes.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { copyLinked, hasOutgoing, repositoryOf } from './copy-linked.ts';

export interface PackedFolder {
  readonly archive: Uint8Array;
  readonly files: number;
  /** Paths of variable files, and of folders with such names, that were not packed. */
  readonly leftOut: readonly string[];
}

/** Files of a folder, by names whose characters are one byte each. */
interface FolderNames {
  readonly names: readonly string[];
  readonly leftOut: readonly string[];
}

/** Files from which tools read values: patterns of tar. */
const variableFiles = ['.env', '.env.*', '*.tfvars', '*.tfvars.json'];
const variableFileName = /^\.env(\..*)?$|\.tfvars(\.json)?$/s;

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
    ? 'git cannot be started. Install it: it reports which files are ignored and must not be sent.'
    : `git does not report which files are ignored: ${message === '' ? error.message : message}`;
  return new BadCall(`The folder "${folder}" was not sent: ${reason}`, { cause: error });
}

/** The path down to the first part that names a variable file; null: no part does. */
function variableFileIn(name: string): string | null {
  const parts = name.split('/');
  const index = parts.findIndex((part) => variableFileName.test(part));
  return index === -1 ? null : parts.slice(0, index + 1).join('/');
}

/** @param lines of `git ls-files -t`: files that git does not track begin with a question mark */
function chooseNames(lines: readonly string[], withVariableFiles: boolean): FolderNames {
  const leftOut = new Set<string>();
  const names = lines.flatMap((line) => {
    const name = line.slice(2);
    const found = withVariableFiles || !line.startsWith('?') ? null : variableFileIn(name);
    if (found === null) return [name];
    leftOut.add(found);
    return [];
  });
  return { names, leftOut: [...leftOut] };
}

/**
 * Files that git tracks or would add; null without a repository.
 * @param only the name of the one file in question; absent: all
 * @throws BadCall if git does not tell, or there are none
 */
async function namesOfGit(
  folder: string,
  withVariableFiles: boolean,
  only?: string,
): Promise<FolderNames | null> {
  const pathspec = only === undefined ? [] : ['--', `:(literal)${only}`];
  const args = [
    '-C',
    folder,
    'ls-files',
    '-t',
    '--cached',
    '--others',
    '--exclude-standard',
    '-z',
    ...pathspec,
  ];
  // Messages in English, and names of any encoding.
  const options = {
    encoding: 'latin1',
    maxBuffer: 256 << 20,
    env: { ...currentProcess().env, LC_ALL: 'C' },
  } as const;
  const list = await promisify(execFile)('git', args, options).catch((error: Error) => {
    const refusal = explainGit(folder, error);
    if (refusal) throw refusal;
    return null;
  });
  if (list === null) return null;
  // Files that were deleted, but not yet in a commit, are listed too.
  const lines = list.stdout
    .split('\0')
    .filter((line) => line !== '' && isThere(folder, Buffer.from(line.slice(2), 'latin1')));
  if (lines.length === 0)
    throw new BadCall(
      `The folder "${folder}" was not sent: git would commit no file of it. Copy it out of the repository to send all of it.`,
    );
  return chooseNames(lines, withVariableFiles);
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
async function packLinked(
  folder: string,
  { names, leftOut }: FolderNames,
  withVariableFiles: boolean,
): Promise<Omit<PackedFolder, 'files'>> {
  const place = Buffer.from(await realpath(folder)).toString('latin1');
  const repository = await repositoryOf(place);
  const allLeftOut = new Set(leftOut);
  const answer = (archive: Uint8Array) => ({
    archive,
    leftOut: Array.from(allLeftOut, (name) => Buffer.from(name, 'latin1').toString()),
  });
  if (repository === null || !(await hasOutgoing(place, names, repository)))
    return answer(await packNames(folder, names));
  const copy = await mkdtemp(join(tmpdir(), 'envarium-plan-'));
  try {
    const listNames = async (path: string, only?: string) => {
      const [realFolder, name] = [path, only].map((each) => each && Buffer.from(each, 'latin1').toString());
      const found = await namesOfGit(realFolder ?? '', withVariableFiles, name).catch(() => null);
      for (const each of found?.leftOut ?? []) allLeftOut.add(`${relative(place, path)}/${each}`);
      return found?.names ?? [];
    };
    await copyLinked(place, names, Buffer.from(copy).toString('latin1'), { repository, listNames });
    return answer(await packAll(copy, []));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Packs a folder outside of a repository. */
async function packPlain(folder: string, withVariableFiles: boolean): Promise<Omit<PackedFolder, 'files'>> {
  const archive = await packAll(folder, leftBehind);
  const found = withVariableFiles
    ? []
    : (await namesIn(archive)).flatMap((name) => variableFileIn(name) ?? []);
  if (found.length === 0) return { archive, leftOut: [] };
  const leftOut = [...new Set(found)].map((name) => name.replace(/^\.\//, ''));
  return { archive: await packAll(folder, [...leftBehind, ...variableFiles]), leftOut };
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
 * @param withVariableFiles whether variable files are packed that git neither tracks nor ignores
 * @throws BadCall if it is not a folder, cannot be packed, or git does not tell what it ignores there
 */
export async function packFolder(folder: string, withVariableFiles = false): Promise<PackedFolder> {
  const status = await stat(folder).catch(() => null);
  if (!status?.isDirectory()) throw new BadCall(`There is no folder "${folder}".`);
  const found = await namesOfGit(folder, withVariableFiles);
  const packed = await (found === null
    ? packPlain(folder, withVariableFiles)
    : packLinked(folder, found, withVariableFiles));
  const names = await namesIn(packed.archive);
  return { ...packed, files: names.filter((name) => !name.endsWith('/')).length };
}

async function namesIn(archive: Uint8Array): Promise<string[]> {
  const list = await tar(['--list', '--gzip', '--file=-'], archive);
  return list
    .toString('utf8')
    .split('\n')
    .filter((name) => name !== '');
}
