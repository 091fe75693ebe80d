/**
 * Serves a local repository to a git that reads it from descriptor 3, with the rights of the repository's
 * owner: a repository below a closed home folder is readable although the slot's user has no access, and a
 * malicious one can do no more than its owner.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { joinToChannel } from './join-to-channel.ts';
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
