/** What is passed on to a process, and the programs between a command and its runner, which pass on the runner's end. */

import type { ExecRequest } from './exec-request.ts';
import { RunFailure } from './failure.ts';
import { findProgram } from './programs.ts';
import { arePassedOn, limitOptions } from './run-limits.ts';

/** Of coreutils: with 0 it only starts a program, waits, and exits as that one did. */
const waitingProgram = 'timeout';
/** Linux refuses longer strings, and an environment that is larger in total. */
const largest = { stringBytes: 131_071, environmentBytes: 2_000_000 } as const;

/**
 * The tool with the programs between it and the runner. Linux reports a parent's death once for each of its
 * threads, and a tool that is interrupted twice ends without writing its state: therefore the runner's end
 * kills a single-threaded process, whose end interrupts the tool.
 */
export function wrapped(request: ExecRequest): [string, string[]] {
  const command = limited(request);
  const [program, args] = withDeathSignal(request, 'INT', command);
  const waiter = waiterFor(request);
  if (waiter === null) return [program, args];
  return withDeathSignal(request, 'KILL', [waiter, '--foreground', '0', program, ...args]);
}

/** The same around and inside of a sandbox, whose outer process is the one between runner and tool. */
export function wrappedInSandbox(request: ExecRequest): {
  readonly inner: readonly string[];
  readonly around?: (bubblewrap: readonly string[]) => readonly string[];
} {
  const command = limited(request);
  if (request.isDisposable === true) return { inner: command };
  const interrupted = (one: readonly string[]) => withDeathSignal(request, 'INT', one).flat();
  return { inner: interrupted(command), around: interrupted };
}

/** The command under its limits, which it can only lower. */
function limited({ limits, program, args, uid, sandbox }: ExecRequest): string[] {
  if (limits === undefined || (uid !== null && arePassedOn(limits))) return [program, ...args];
  const prlimit = findProgram('prlimit');
  if (prlimit === null) return [program, ...args];
  const ownsUid = uid !== null || sandbox !== undefined;
  return [prlimit, ...limitOptions(limits, ownsUid), '--', program, ...args];
}

/** Bubblewrap would only say that the list is too long. */
export function expectSize(environment: Readonly<Record<string, string>>): void {
  const sizes = Object.entries(environment).map(([name, value]) => Buffer.byteLength(`${name}=${value}`));
  const isTooLarge =
    sizes.some((size) => size > largest.stringBytes) ||
    sizes.reduce((total, size) => total + size + 1, 0) > largest.environmentBytes;
  if (isTooLarge) throw Object.assign(new Error('the environment is too large'), { code: 'E2BIG' });
}

/** The program between runner and tool; bubblewrap already is one. */
export function waiterFor({ isInterruptedOnce, sandbox }: ExecRequest): string | null {
  return isInterruptedOnce === true && sandbox === undefined ? findProgram(waitingProgram) : null;
}

function withDeathSignal(
  request: ExecRequest,
  signal: 'INT' | 'KILL',
  command: readonly string[],
): [string, string[]] {
  const setpriv = findProgram('setpriv');
  const [program = '', ...args] = command;
  if (setpriv === null) {
    if (request.uid !== null)
      throw new RunFailure(
        'setpriv is not installed on the agent: install it (package "util-linux"), then deploy again',
      );
    return [program, args];
  }
  return [setpriv, ['--no-new-privs', '--pdeathsig', signal, '--', program, ...args]];
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
