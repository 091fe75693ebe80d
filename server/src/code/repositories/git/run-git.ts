/**
 * Runs git for the service, as the agent does for runs: with its own configuration, the intended transport and
 * limits, without a shell, hooks or prompts. A local repository and ssh are reached through descriptor 3.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, usualPath } from '#guards/find-on-path.ts';
import { gitEnvironment } from '#guards/git/git-environment.ts';
import type { RepositoryAccess } from '#guards/git/repository-access.ts';
import { serveRepository } from '#guards/git/serve-repository.ts';
import { Refusal } from '../../../ground/errors.ts';
import { problemOfGit } from './git-version.ts';
import { proxyFor } from './proxy-for.ts';

/** Folder and limits for reading a repository. */
export interface GitPlace {
  /** Absolute path of a private folder. */
  readonly folder: string;
  /** Absolute path of a file with git's configuration. */
  readonly configurationFile: string;
  /** Ends what runs. */
  readonly signal: AbortSignal;
  /** Of any file that git writes. */
  readonly megabytes: number;
  /** As `proxyEnvironment` has them. */
  readonly proxies: Readonly<Record<string, string>>;
  /** Path of the certificates that are trusted; absent: those of the machine. */
  readonly certificates?: string;
}

export interface GitRequest {
  readonly args: readonly string[];
  /** Only for calls to the repository. */
  readonly access?: RepositoryAccess;
  /** Standard input. */
  readonly input?: string;
}

export interface GitAnswer {
  readonly exitCode: number | null;
  /** As git printed it, piece by piece. */
  readonly parts: readonly Buffer[];
  /** The parts, joined when it is read: twice the memory, for long ones. */
  readonly output: Buffer;
  /** The end of what git, and ssh if it was used, complained about. */
  readonly complaints: string;
}

const mostOutputBytes = 64 << 20;
const mostComplaintCharacters = 20_000;
const mostMemoryBytes = 2 << 30;

function findProgram(name: string): string | null {
  return findOnPath(name, usualPath);
}

export interface ProcessLimits {
  /** Of any file that it writes. */
  readonly fileBytes: number;
  readonly memoryBytes: number;
}

/** A child that ends with the service, gains no rights, and stays below limits, as far as the machine has the programs. */
export function limitedCommand(
  command: readonly [string, ...string[]],
  { fileBytes, memoryBytes }: ProcessLimits,
): readonly [string, ...string[]] {
  const setpriv = findProgram('setpriv');
  const prlimit = findProgram('prlimit');
  const words = [
    ...(setpriv === null ? [] : [setpriv, '--no-new-privs', '--pdeathsig', 'KILL', '--']),
    ...(prlimit === null ? [] : [prlimit, `--fsize=${fileBytes}`, `--data=${memoryBytes}`, '--core=0', '--']),
    ...command,
  ];
  return words as [string, ...string[]];
}

function environmentOf(place: GitPlace, access: RepositoryAccess | undefined): Record<string, string> {
  const isWeb = access?.kind === 'web';
  const scheme = isWeb ? new URL(access.url).protocol.replace(':', '') : 'fd';
  const environment = gitEnvironment({
    configurationFile: place.configurationFile,
    home: place.folder,
    path: usualPath,
    protocols: access === undefined ? 'none' : scheme,
    followsRedirects: false,
    ...(isWeb ? { url: access.url, credentials: access.credentials, resolved: access.resolved } : {}),
  });
  if (!isWeb) return environment;
  const { certificates } = place;
  return {
    ...proxyFor(new URL(access.url), place.proxies),
    ...(certificates === undefined ? {} : { GIT_SSL_CAINFO: certificates }),
    ...environment,
  };
}

/** Connects a git that reads from its descriptor 3; @throws an Error that names sshKeys if a key is unusable */
async function connect(
  place: GitPlace,
  client: ChildProcess,
  access: Exclude<RepositoryAccess, { kind: 'web' }>,
  log: string,
): Promise<void> {
  await serveRepository({
    repository: access,
    client,
    log,
    program: findProgram('git') ?? 'git',
    environment: environmentOf(place, undefined),
    folder: place.folder,
    signal: place.signal,
  });
}

function collect(client: ChildProcess, end: () => void) {
  const parts: Buffer[] = [];
  let size = 0;
  let complaints = '';
  client.stdout?.on('data', (part: Buffer) => {
    size += part.length;
    if (size > mostOutputBytes) return end();
    parts.push(part);
  });
  client.stderr?.on('data', (part: Buffer) => {
    complaints = (complaints + part.toString()).slice(-mostComplaintCharacters);
  });
  return {
    parts,
    complaints: () => complaints,
    isTooLong: () => size > mostOutputBytes,
  };
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-mostComplaintCharacters);
  } catch {
    return '';
  }
}

/** Unlike other reasons for a 503, it does not pass. */
export class UnusableGit extends Refusal {
  constructor(problem: string) {
    super('unavailable', problem);
  }
}

const missingGit = 'git is not installed on the machine of the service: install it';

/** @throws UnusableGit if it is not installed */
export function gitProgram(): string {
  const program = findProgram('git');
  if (program === null) throw new UnusableGit(missingGit);
  return program;
}

/** @returns why repositories on the web cannot be read, and what to do; undefined if they can */
export async function gitProblem(): Promise<string | undefined> {
  const program = findProgram('git');
  return program === null ? missingGit : problemOfGit(program);
}

/** Ends a process that leads a group, and all that it has started. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/**
 * Runs one command of git to its end.
 * @throws the reason of the signal if it ends the command, a Refusal if git is not installed or prints too much
 */
export async function runGit(place: GitPlace, { args, access, input }: GitRequest): Promise<GitAnswer> {
  place.signal.throwIfAborted();
  const git = gitProgram();
  const hasChannel = access !== undefined && access.kind !== 'web';
  const limits = { fileBytes: place.megabytes * 1024 * 1024, memoryBytes: mostMemoryBytes };
  const [program, ...words] = limitedCommand([git, ...args], limits);
  const client = spawn(program, words, {
    cwd: place.folder,
    env: environmentOf(place, access),
    detached: true,
    stdio: [
      input === undefined ? 'ignore' : 'pipe',
      'pipe',
      'pipe',
      ...(hasChannel ? ['pipe' as const] : []),
    ],
  });
  const end = () => killGroup(client);
  const collected = collect(client, end);
  place.signal.addEventListener('abort', end, { once: true });
  try {
    const closed = new Promise<number | null>((resolve, reject) => {
      client.once('error', reject);
      client.once('close', resolve);
    });
    closed.catch(() => undefined);
    client.stdin?.on('error', () => undefined);
    client.stdin?.end(input);
    const log = join(place.folder, 'complaints');
    if (access !== undefined && access.kind !== 'web') await connect(place, client, access, log);
    const exitCode = await closed;
    place.signal.throwIfAborted();
    if (collected.isTooLong())
      throw new Refusal('unprocessable', 'The repository has more files than the service reads at once');
    const complaints = hasChannel ? textIn(log) + collected.complaints() : collected.complaints();
    const { parts } = collected;
    return {
      exitCode,
      parts,
      complaints,
      get output() {
        return Buffer.concat(parts);
      },
    };
  } finally {
    place.signal.removeEventListener('abort', end);
    end();
  }
}
