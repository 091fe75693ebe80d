/** Starts bubblewrap with all that one sandbox needs. */
import {
  type ChildProcess,
  type IOType,
  type SpawnOptions,
  type StdioOptions,
  spawn,
} from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { RunFailure } from './failure.ts';
import { identifyProcess, type ProcessIdentity } from './proc.ts';
import {
  type EndWithParent,
  type Isolation,
  type Sandbox,
  type SandboxRequest,
  sandboxArguments,
} from './sandbox.ts';

/** Of the process that bubblewrap starts: 0 to 2 as usual, and a channel if there is one. */
export const channelDescriptor = 3;
const descriptors = { info: 4, args: 5, seccomp: 6 } as const;

export interface SandboxedCommand
  extends Pick<SpawnOptions, 'uid' | 'gid' | 'serialization' | 'timeout'>,
    Pick<SandboxRequest, 'capabilities'> {
  readonly isolation: Isolation;
  readonly sandbox: Sandbox;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Descriptors 0 to 3. */
  readonly stdio: readonly (IOType | 'ipc' | number)[];
  readonly withParent: EndWithParent;
  /** The command line that starts bubblewrap's; absent: itself. */
  readonly around?: (bubblewrap: readonly string[]) => readonly string[];
}

/**
 * @throws an Error where bubblewrap cannot be started; RunFailure where a text would become more than one argument
 */
export function spawnInSandbox(request: SandboxedCommand): ChildProcess {
  const { isolation, sandbox, command, cwd, environment, withParent, capabilities } = request;
  const { bubblewrap, seccompFile } = isolation;
  if (bubblewrap === null) throw new Error('there is no bubblewrap to start');
  const options = sandboxArguments({
    isolation,
    sandbox,
    cwd,
    environment,
    infoDescriptor: descriptors.info,
    seccompDescriptor: seccompFile === null ? null : descriptors.seccomp,
    withParent,
    capabilities,
  });
  checkArguments(command, environment);
  checkArguments([bubblewrap, ...options], {});
  const text = options.map((option) => `${option}\0`).join('');
  const filter = seccompFile === null ? null : openSync(seccompFile, 'r');
  const file = namelessFile(text);
  try {
    const inner = [bubblewrap, '--args', String(descriptors.args), '--', ...command];
    const [program = '', ...args] = request.around?.(inner) ?? inner;
    const { uid, gid, serialization, timeout } = request;
    const [input = 'ignore', output = 'ignore', errors = 'ignore', channel = 'ignore'] = request.stdio;
    const stdio: StdioOptions = [input, output, errors, channel, 'pipe', file ?? 'pipe', filter ?? 'ignore'];
    const child = spawn(program, args, {
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
      ...(serialization === undefined ? {} : { serialization }),
      ...(timeout === undefined ? {} : { timeout }),
      cwd: '/',
      // Bubblewrap acts with more rights than the command and must not see its variables.
      env: {},
      stdio,
      detached: true,
    });
    if (file === null) sendArguments(child, text);
    return child;
  } finally {
    for (const descriptor of [filter, file]) if (descriptor !== null) closeSync(descriptor);
  }
}

/** Linux's O_TMPFILE, which Node does not name. */
const withoutName = 0o20000000 | constants.O_DIRECTORY;

/**
 * A file in memory without a name, which ends with its last descriptor: on the command line, all users could read the
 * variables of the run, and a pipe takes longer.
 * @returns a descriptor at its beginning; null where the machine has none, or too little memory for it
 */
function namelessFile(text: string): number | null {
  let descriptor: number | undefined;
  try {
    descriptor = openSync('/dev/shm', constants.O_RDWR | withoutName, 0o600);
    const bytes = Buffer.from(text);
    if (writeSync(descriptor, bytes, 0, bytes.length, 0) === bytes.length) return descriptor;
  } catch {
    // A pipe serves as well.
  }
  if (descriptor !== undefined) closeSync(descriptor);
  return null;
}

function sendArguments(child: ChildProcess, text: string): void {
  // It is gone where bubblewrap could not be started, which the child reports.
  const input: unknown = [...child.stdio][descriptors.args];
  if (!(input instanceof Writable)) return;
  input.on('error', () => {});
  input.end(text);
}

/** @returns the pid of the first process inside, as the machine sees it; NaN where there never was one */
export function pidInside(child: ChildProcess): Promise<number> {
  let report = '';
  const source: unknown = [...child.stdio][descriptors.info];
  if (!(source instanceof Readable)) return Promise.resolve(Number.NaN);
  return new Promise((resolve) => {
    const end = () => resolve(Number(/"child-pid":\s*(\d+)/.exec(report)?.[1]));
    source.on('data', (chunk: Buffer) => (report += chunk.toString('latin1')));
    for (const event of ['end', 'close'] as const) source.once(event, end);
    source.on('error', () => {});
  });
}

/** The first process of a sandbox, which is the tool itself; null where bubblewrap ended before. */
export async function firstInside(child: ChildProcess): Promise<ProcessIdentity | null> {
  const pid = await pidInside(child);
  return identifyProcess(pid);
}

/**
 * A zero byte ends an argument, also one of bubblewrap's: what follows it would become an option of its own. Names and
 * values are checked here, directly before a start, whatever has composed them.
 * @throws RunFailure that names the variable, without any value
 */
export function checkArguments(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || /[=\0]/.test(name))
      throw new RunFailure(
        `the environment variable ${JSON.stringify(name.split(/[=\0]/)[0])} cannot be passed on: its name is empty, or contains = or a zero character`,
      );
    if (value.includes('\0'))
      throw new RunFailure(`${name}: an environment variable cannot hold a zero character`);
  }
  if (command.some((text) => text.includes('\0')))
    throw new RunFailure(`an argument of ${command[0]?.split('\0')[0]} contains a zero character`);
}
