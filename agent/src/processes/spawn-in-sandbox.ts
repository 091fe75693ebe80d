/** Starts bubblewrap with all that one sandbox needs. */
import {
  type ChildProcess,
  type IOType,
  type SpawnOptions,
  type StdioOptions,
  spawn,
} from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import {
  type EndWithParent,
  type Isolation,
  type Sandbox,
  sandboxArguments,
  type SandboxRequest,
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
 * @throws an Error where bubblewrap cannot be started
 */
export function spawnInSandbox(request: SandboxedCommand): ChildProcess {
  const { isolation, sandbox, command, cwd, environment, withParent, capabilities } = request;
  const { bubblewrap, seccompFile } = isolation;
  if (bubblewrap === null) throw new Error('there is no bubblewrap to start');
  const filter = seccompFile === null ? null : openSync(seccompFile, 'r');
  try {
    const inner = [bubblewrap, '--args', String(descriptors.args), '--', ...command];
    const [program = '', ...args] = request.around?.(inner) ?? inner;
    const { uid, gid, serialization, timeout } = request;
    const [input = 'ignore', output = 'ignore', errors = 'ignore', channel = 'ignore'] = request.stdio;
    const stdio: StdioOptions = [input, output, errors, channel, 'pipe', 'pipe', filter ?? 'ignore'];
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
    sendArguments(
      child,
      sandboxArguments({
        isolation,
        sandbox,
        cwd,
        environment,
        infoDescriptor: descriptors.info,
        seccompDescriptor: filter === null ? null : descriptors.seccomp,
        withParent,
        capabilities,
      }),
    );
    return child;
  } finally {
    if (filter !== null) closeSync(filter);
  }
}

/** Through a pipe: on the command line everybody could read the variables of the run. */
function sendArguments(child: ChildProcess, args: readonly string[]): void {
  // It is gone where bubblewrap could not be started, which the child reports.
  const input: unknown = [...child.stdio][descriptors.args];
  if (!(input instanceof Writable)) return;
  input.on('error', () => {});
  input.end(args.map((arg) => `${arg}\0`).join(''));
}

/** @returns the pid of the first process inside, as the machine sees it; NaN where there never was one */
export async function pidInside(child: ChildProcess): Promise<number> {
  let report = '';
  const source: unknown = [...child.stdio][descriptors.info];
  if (!(source instanceof Readable)) return Number.NaN;
  for await (const chunk of source.setEncoding('utf8')) report += chunk as string;
  return Number(/"child-pid":\s*(\d+)/.exec(report)?.[1]);
}
