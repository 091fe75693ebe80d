/**
 * The bubblewrap sandbox of one command of a run: namespaces of its own, in which it sees the system's
 * programs, the run's folders and its own processes, and nothing else of the machine. The command is the first
 * process of its namespace: the kernel ends everything in it together with that process.
 */
import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { WorkFolderPaths } from '../slots/work-folder.ts';
import { accountsFile } from './accounts.ts';
import { closedFolder } from './closed-folder.ts';
import { namesIn, textOrEmpty } from './proc.ts';

/** Isolation of the runs of an agent. */
export interface Isolation {
  /** Absolute path of bubblewrap; null: runs have only the rights of their user. */
  readonly bubblewrap: string | null;
  /** File with the filter of system calls; null where there is none for this architecture. */
  readonly seccompFile: string | null;
  /** Folders and files that every run may read, in addition to the system's. */
  readonly readable: readonly string[];
  /** Folders and files below those that no run may see. */
  readonly hidden: readonly string[];
  /** Whether only commands that fetch something reach the network. */
  readonly isOffline: boolean;
}

/** The places and rights of one sandbox. */
export interface Sandbox {
  /** Folders that the run may write to. */
  readonly writable: readonly string[];
  /** Folders and files that the run may read, in addition to the system's. */
  readonly readable: readonly string[];
  /** The one of the writable folders that it sees as /tmp; null: one in memory. */
  readonly temporary: string | null;
  /** The file that it sees as the machine's accounts, if it exists; absent: the machine's. */
  readonly accounts?: string;
  /** Folders in the writable ones that it sees empty; absent: none. */
  readonly hidden?: readonly string[];
  readonly hasNetwork: boolean;
}

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
/** Of each file system in memory: what a run writes there takes memory. */
const memoryFolderBytes = 256 * 1024 * 1024;

/** The parts of its work folder that a run may see: all but the runner's own files. */
export function sandboxOf(
  folders: WorkFolderPaths,
  isolation: Isolation,
  more: {
    readonly readable: readonly string[];
    readonly slotUid: number | null;
    /** Whether the folder of the plan holds a plan that the run cannot change. */
    readonly isPlanSealed: boolean;
    readonly needsNetwork?: boolean;
  },
): Sandbox {
  return {
    writable: [
      folders.tree,
      folders.state,
      ...(more.isPlanSealed ? [] : [folders.plan]),
      folders.home,
      folders.temporary,
    ],
    readable: [
      folders.gitConfig,
      folders.programs,
      ...(more.isPlanSealed ? [folders.plan] : []),
      ...notShown(isolation, more.readable).filter((path) => more.slotUid === null || isReachable(path)),
    ],
    temporary: folders.temporary,
    accounts: folders.accounts,
    hasNetwork: !isolation.isOffline || more.needsNetwork === true,
  };
}

/**
 * The sandbox of a process that reads and writes the folders of runs, and runs nothing of a run. It sees the
 * folder that contains them, so that it also sees those that are created or replaced later; the rights of the
 * run's user keep it from all others. What else is in there, such as caches, is the agent's.
 */
export function readerSandbox(folder: string, isolation: Isolation, readable: readonly string[]): Sandbox {
  return {
    writable: [folder],
    readable: notShown(isolation, readable),
    hidden: namesIn(folder)
      .filter((name) => name.startsWith('.'))
      .map((name) => join(folder, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true),
    temporary: null,
    hasNetwork: false,
  };
}

/** Their bits, from linux/capability.h. */
const capabilityBits = { CAP_DAC_READ_SEARCH: 2n, CAP_SETGID: 6n, CAP_SETUID: 7n } as const;

/**
 * Capabilities that root needs to act as the user of one run after the other, as far as this process has them.
 * The program that it loads as root may belong to another user.
 */
export function readerCapabilities(): string[] {
  const own = /^CapEff:\s*(\w+)$/m.exec(textOrEmpty('/proc/self/status'))?.[1] ?? '0';
  return Object.entries(capabilityBits)
    .filter(([, bit]) => (BigInt(`0x${own}`) >> bit) & 1n)
    .map(([name]) => name);
}

/** Paths that a sandbox has to show in addition to the system's folders. */
function notShown(isolation: Isolation, readable: readonly string[]): string[] {
  return [...new Set([...isolation.readable, ...readable])].filter((path) => !isShown(path));
}

/** Whether the users of runs get to a path; bubblewrap acts with their rights. */
function isReachable(path: string): boolean {
  return existsSync(path) && closedFolder(dirname(path)) === null;
}

/** Whether a path is below a folder that every sandbox shows. */
function isShown(path: string): boolean {
  return systemFolders.some((folder) => path.startsWith(`${folder}/`));
}

/** End of a command when the process that started it ends. */
export type EndWithParent = 'killed' | 'signalled';

export interface SandboxRequest {
  readonly isolation: Isolation;
  readonly sandbox: Sandbox;
  readonly cwd: string;
  /** Of the command; bubblewrap itself has to be started without one, since it acts with more rights. */
  readonly environment: Readonly<Record<string, string>>;
  /** Descriptor to which bubblewrap writes the pid of the command, as seen by the machine. */
  readonly infoDescriptor: number;
  /** Descriptor of the filter of system calls. */
  readonly seccompDescriptor: number | null;
  readonly withParent: EndWithParent;
  /** Of a command that stays root, without a user namespace; absent: it has a user namespace, and none. */
  readonly capabilities?: readonly string[] | undefined;
}

/** Bubblewrap's arguments, for its option `--args`: on the command line, all users could read them. */
export function sandboxArguments(request: SandboxRequest): string[] {
  const { isolation, sandbox, infoDescriptor, seccompDescriptor, capabilities } = request;
  const user =
    capabilities === undefined
      ? ['--unshare-user']
      : ['--cap-drop', 'ALL', ...capabilities.flatMap((name) => ['--cap-add', name])];
  const network = sandbox.hasNetwork ? [] : ['--unshare-net'];
  const seccomp = seccompDescriptor === null ? [] : ['--seccomp', String(seccompDescriptor)];
  const parent = request.withParent === 'killed' ? ['--die-with-parent'] : [];
  return [
    ...user,
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...network,
    '--as-pid-1',
    ...parent,
    '--info-fd',
    String(infoDescriptor),
    ...seccomp,
    ...systemPlaces(),
    ...(sandbox.accounts === undefined ? [] : ['--ro-bind-try', sandbox.accounts, accountsFile]),
    ...isolation.hidden.flatMap(hide),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--size',
    String(memoryFolderBytes),
    '--tmpfs',
    '/dev/shm',
    ...temporaryPlaces(sandbox.temporary),
    // Made by root, and entered by another user.
    ...(capabilities === undefined ? [] : foldersAbove(sandbox.writable)),
    ...sandbox.readable.flatMap((path) => ['--ro-bind-try', path, path]),
    ...sandbox.writable.flatMap((folder) => ['--bind', folder, folder]),
    ...(sandbox.hidden ?? []).flatMap((folder) => ['--perms', '0700', '--tmpfs', folder]),
    '--remount-ro',
    '/',
    '--clearenv',
    ...Object.entries(request.environment).flatMap(([name, value]) => ['--setenv', name, value]),
    '--chdir',
    request.cwd,
  ];
}

let knownPlaces: readonly string[] | undefined;

/** A link needs no mount, and each mount takes time. */
function systemPlaces(): readonly string[] {
  return (knownPlaces ??= systemFolders.flatMap((folder) => {
    const status = lstatSync(folder, { throwIfNoEntry: false });
    if (status === undefined) return [];
    return status.isSymbolicLink()
      ? ['--symlink', readlinkSync(folder), folder]
      : ['--ro-bind-try', folder, folder];
  }));
}

function foldersAbove(folders: readonly string[]): string[] {
  const above = (folder: string): string[] =>
    folder === dirname(folder) ? [] : [...above(dirname(folder)), folder];
  const all = new Set(folders.flatMap((folder) => above(dirname(folder))));
  return [...all].flatMap((folder) => ['--perms', '0755', '--dir', folder]);
}

/**
 * On disk, where a run that ignores TMPDIR fills no memory. Places below them are made in them: then they must
 * not be the run's own folder.
 */
function temporaryPlaces(folder: string | null): string[] {
  return ['/tmp', '/var/tmp'].flatMap((place) =>
    folder === null || folder.startsWith(`${place}/`)
      ? ['--size', String(memoryFolderBytes), '--tmpfs', place]
      : ['--bind', folder, place],
  );
}

function hide(path: string): string[] {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined || !isShown(path)) return [];
  return status.isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}
