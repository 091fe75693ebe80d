/** A folder as a compressed archive: what git would commit, or outside a repository everything but tools' files. */
import { execFile, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
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

/** Names of files that git tracks or would add, ended by zeros; null without a repository, or without git. */
async function namesOfGit(folder: string): Promise<Buffer | null> {
  const args = ['-C', folder, 'ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const options = { encoding: 'buffer', maxBuffer: 256 << 20 } as const;
  const names = await promisify(execFile)('git', args, options).catch(() => null);
  return names === null || names.stdout.length === 0 ? null : names.stdout;
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

/** @throws BadCall if it is not a folder or cannot be packed */
export async function packFolder(folder: string): Promise<PackedFolder> {
  const status = await stat(folder).catch(() => null);
  if (!status?.isDirectory()) throw new BadCall(`There is no folder "${folder}".`);
  const names = await namesOfGit(folder);
  const common = ['--create', '--gzip', '--file=-', `--directory=${folder}`];
  if (names === null) {
    const archive = await tar(
      [...common, ...leftBehind.map((name) => `--exclude=${name}`), '--', '.'],
      new Uint8Array(),
    );
    return { archive, files: await countFiles(archive) };
  }
  // Files that were deleted, but not yet in a commit, are listed too.
  const archive = await tar(
    [
      ...common,
      '--ignore-failed-read',
      '--null',
      '--verbatim-files-from',
      '--no-recursion',
      '--files-from=-',
    ],
    names,
  );
  return { archive, files: await countFiles(archive) };
}

async function countFiles(archive: Buffer): Promise<number> {
  const list = await tar(['--list', '--gzip', '--file=-'], archive);
  return list
    .toString('utf8')
    .split('\n')
    .filter((name) => name !== '' && !name.endsWith('/')).length;
}
