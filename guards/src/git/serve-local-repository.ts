/**
 * Serves a local repository to a git that reads it from descriptor 3, with the rights of the repository's
 * owner: a repository below a closed home folder is readable although the slot's user has no access, and a
 * malicious one can do no more than its owner.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { RepositoryAccess } from './repository-access.ts';

export interface ServeRequest {
  /** Absolute path of the git program. */
  readonly program: string;
  readonly repository: Extract<RepositoryAccess, { kind: 'local' }>;
  /** The git process whose descriptor 3 is a socket. */
  readonly client: ChildProcess;
  readonly environment: Readonly<Record<string, string>>;
  /** File that errors are appended to. */
  readonly log: string;
}

/** @returns once the serving process has ended */
export async function serveLocalRepository(request: ServeRequest): Promise<void> {
  await joinToChannel(request.client, startServing(request));
}

function startServing({
  program,
  repository,
  environment,
  log,
}: ServeRequest): ChildProcessByStdio<Writable, Readable, null> {
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

function identityOf({ gitFolder, ownerUid }: ServeRequest['repository']): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0 || ownerUid === 0) return {};
  const { gid } = statSync(gitFolder);
  return { uid: ownerUid, gid: gid === 0 ? ownerUid : gid };
}

/**
 * @param client the git process whose descriptor 3 is a socket
 * @param server the process that speaks on its standard input and output; ended with the client
 * @returns once the server has ended
 */
export async function joinToChannel(client: ChildProcess, server: ChildProcess): Promise<void> {
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
