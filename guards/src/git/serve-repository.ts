/**
 * Serves a repository that is not on the web to a git that reads it from descriptor 3: one over ssh, with the rights of
 * this process, or a local one, with the rights of its owner. A repository below a closed home folder is readable
 * although the slot's user has no access, and a malicious one can do no more than its owner.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { RepositoryAccess } from './repository-access.ts';
import { sshProgramsIn, startSshWithLog } from './ssh.ts';

type LocalAccess = Extract<RepositoryAccess, { kind: 'local' }>;

export interface ServeRequest {
  readonly repository: Exclude<RepositoryAccess, { kind: 'web' }>;
  /** The git process whose descriptor 3 is a socket. */
  readonly client: ChildProcess;
  /** File that errors are appended to. */
  readonly log: string;
  /** Absolute path of git and its environment, for a local repository. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A folder of this process, mode 0700, for the keys of ssh. */
  readonly folder: string;
  /** Ends ssh at once. */
  readonly signal?: AbortSignal;
}

/**
 * @returns once the serving process has ended
 * @throws an Error if it cannot be started, which names sshKeys if a key is unusable
 */
export async function serveRepository(request: ServeRequest): Promise<void> {
  const { repository, client, folder, log, signal } = request;
  try {
    if (repository.kind === 'local') return await joinToChannel(client, startServing(request, repository));
    const server = startSshWithLog(sshProgramsIn(folder), { ...repository, service: 'git-upload-pack' }, log);
    const end = () => server.kill('SIGKILL');
    signal?.addEventListener('abort', end, { once: true });
    await joinToChannel(client, server);
    signal?.removeEventListener('abort', end);
  } catch (error) {
    client.kill('SIGTERM');
    throw error;
  }
}

function startServing(
  { program, environment, log }: ServeRequest,
  repository: LocalAccess,
): ChildProcessByStdio<Writable, Readable, null> {
  const complaints = openSync(log, 'a', 0o600);
  try {
    return spawn(program, ['upload-pack', '--', repository.gitFolder], {
      ...identityOf(repository),
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', complaints],
      // Version 2 of the protocol serves any commit by its id, older versions only the targets of names.
      env: { ...environment, GIT_PROTOCOL: 'version=2' },
    }) as ChildProcessByStdio<Writable, Readable, null>;
  } finally {
    closeSync(complaints);
  }
}

function identityOf({ gitFolder, ownerUid }: LocalAccess): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0 || ownerUid === 0) return {};
  const { gid } = statSync(gitFolder);
  return { uid: ownerUid, gid: gid === 0 ? ownerUid : gid };
}

/**
 * Joins a process to the git that reads it through its descriptor 3.
 * @param client the git process whose descriptor 3 is a socket
 * @param server the process that speaks on its standard input and output; ended with the client
 * @returns once the server has ended
 */
async function joinToChannel(client: ChildProcess, server: ChildProcess): Promise<void> {
  const channel = client.stdio[3] as Duplex & { allowHalfOpen: boolean };
  // git closes its sending side while it still receives.
  channel.allowHalfOpen = true;
  const ended = new Promise<void>((resolve) => {
    server.once('exit', () => resolve());
    server.once('error', () => resolve());
  });
  for (const stream of [channel, server.stdin, server.stdout])
    stream?.on('error', () => server.kill('SIGKILL'));
  if (server.stdin) channel.pipe(server.stdin);
  server.stdout?.pipe(channel);
  client.once('exit', () => server.kill('SIGTERM'));
  await ended;
}
