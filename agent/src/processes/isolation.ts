/** Isolation that a machine offers for runs, tried once when an agent starts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './programs.ts';
import type { Isolation } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { pidInside, spawnInSandbox } from './spawn-in-sandbox.ts';

const tryMilliseconds = 5000;

/** Why runs are not confined by namespaces, and what an operator can do; null where they are. */
export interface IsolationProbe {
  readonly isolation: Isolation;
  readonly problem: string | null;
}

export interface IsolationRequest {
  readonly mode: 'auto' | 'required' | 'off';
  /** A uid of runs; null: they have the agent's. */
  readonly slotUid: number | null;
  /** Absolute path of a folder for the filter's file that runs' users need not reach. */
  readonly folder: string;
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  readonly isOffline: boolean;
}

export interface HostMachine {
  /** @returns the absolute path of a program; null if it is not installed */
  readonly find: (program: string) => string | null;
  readonly architecture: NodeJS.Architecture;
}

export const thisMachine: HostMachine = { find: findProgram, architecture: process.arch };

/** Missing features that a sandbox would silently do without. @returns null if there are none */
function lackOf({ find, architecture }: HostMachine): string | null {
  if (seccompFilter(architecture) === null)
    return `there is no filter of system calls for the architecture ${architecture}`;
  const missing = ['prlimit', 'setpriv'].find((program) => find(program) === null);
  return missing === undefined ? null : `${missing} is not installed (package "util-linux")`;
}

/** Tries a sandbox as a run would use it. */
export async function findIsolation(
  request: IsolationRequest,
  machine = thisMachine,
): Promise<IsolationProbe> {
  const { readable, hidden, isOffline } = request;
  const without: Isolation = { bubblewrap: null, seccompFile: null, readable, hidden, isOffline };
  if (request.mode === 'off') return { isolation: without, problem: 'ENVARIUM_ISOLATION is off' };
  const bubblewrap = machine.find('bwrap');
  if (bubblewrap === null)
    return { isolation: without, problem: 'bubblewrap is not installed (package "bubblewrap")' };
  const lack = request.mode === 'required' ? lackOf(machine) : null;
  if (lack !== null) return { isolation: without, problem: lack };
  const isolation = { ...without, bubblewrap, seccompFile: placeFilter(request.folder) };
  const problem = await trySandbox(bubblewrap, isolation, request.slotUid);
  return problem === null ? { isolation, problem } : { isolation: without, problem };
}

/** Writes the filter of system calls into a folder. @returns its path, null where there is no filter */
function placeFilter(folder: string): string | null {
  const filter = seccompFilter();
  if (filter === null) return null;
  const file = join(folder, 'seccomp.bpf');
  writeFileSync(file, filter, { mode: 0o600 });
  return file;
}

/** @returns what bubblewrap complains about, or null */
async function trySandbox(
  bubblewrap: string,
  isolation: Isolation,
  slotUid: number | null,
): Promise<string | null> {
  const nothing = findProgram('true');
  if (nothing === null) return 'the program "true" is not installed (package "coreutils")';
  const child = spawnInSandbox({
    isolation: { ...isolation, bubblewrap },
    sandbox: { writable: [], readable: [], temporary: null, hasNetwork: !isolation.isOffline },
    command: [nothing],
    ...(slotUid === null ? {} : { uid: slotUid, gid: slotUid }),
    cwd: '/',
    environment: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: tryMilliseconds,
    withParent: 'killed',
  });
  void pidInside(child);
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(`bubblewrap cannot be started: ${message}`));
    child.once('close', (code, signal) =>
      resolve(
        code === 0
          ? null
          : `bubblewrap cannot be used: ${complaint.trim() || `it ended with ${signal ?? `code ${code}`}`}`,
      ),
    );
  });
}
