/**
 * The bubblewrap sandbox for a run without its own user: the tool sees the system's programs, its own folders
 * and its own processes, and nothing else on the machine. It leaves no process behind, because it is the
 * first process of its namespace.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { WorkFolderPaths } from '../slots/work-folder.ts';
import { findProgram } from './programs.ts';

export interface Sandbox {
  /** Folders that the run may write to. */
  readonly writable: readonly string[];
  /** Folders and files that the run may read, in addition to the system's. */
  readonly readable: readonly string[];
}

/** The descriptor on which bubblewrap reports the program's pid outside the sandbox. */
export const pidDescriptor = 3;

const systemFolders = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/run/systemd/resolve',
] as const;
const namespaces = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts'] as const;
const tryMilliseconds = 5000;

/** The parts of its work folder that a run may access: all except the runner's own files. */
export function sandboxOf(folders: WorkFolderPaths, toolPaths: Readonly<Record<string, string>>): Sandbox {
  return {
    writable: [folders.tree, folders.state, folders.plan, folders.home, folders.temporary],
    readable: [
      folders.gitConfig,
      folders.programs,
      ...Object.values(toolPaths).filter((path) => path !== ''),
    ],
  };
}

/**
 * Wraps a command so that it runs in the sandbox.
 * @param bubblewrap absolute path
 * @param cwd the command's working folder
 * @param command the program and its arguments
 */
export function sandboxed(
  bubblewrap: string,
  sandbox: Sandbox,
  cwd: string,
  command: readonly string[],
): [string, string[]] {
  const system = systemFolders.flatMap((folder) => ['--ro-bind-try', folder, folder]);
  const readable = sandbox.readable.flatMap((path) => ['--ro-bind-try', path, path]);
  const writable = sandbox.writable.flatMap((folder) => ['--bind', folder, folder]);
  const places = [
    ...system,
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    '--tmpfs',
    '/var/tmp',
    ...readable,
    ...writable,
    '--remount-ro',
    '/',
  ];
  return [
    bubblewrap,
    [
      ...namespaces,
      '--as-pid-1',
      '--info-fd',
      String(pidDescriptor),
      ...places,
      '--chdir',
      cwd,
      '--',
      ...command,
    ],
  ];
}

let known: Promise<string | null> | undefined;

/** @returns the path of bubblewrap, or null if this user cannot use it; tested once per process */
export function findBubblewrap(): Promise<string | null> {
  known ??= tryBubblewrap();
  return known;
}

async function tryBubblewrap(): Promise<string | null> {
  const bubblewrap = findProgram('bwrap');
  const nothing = findProgram('true');
  if (bubblewrap === null || nothing === null) return null;
  const [program, args] = sandboxed(bubblewrap, { writable: [], readable: [] }, '/', [nothing]);
  const child = spawn(program, args, {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    timeout: tryMilliseconds,
  });
  (child.stdio[pidDescriptor] as Readable).on('error', () => {}).resume();
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code === 0 ? bubblewrap : null));
  });
}
