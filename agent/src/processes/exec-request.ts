/** Request for a command, and its result. */
import type { ChildProcess } from 'node:child_process';
import type { RunLimits } from './run-limits.ts';
import type { Isolation, Sandbox } from './sandbox.ts';
import type { StopReason } from './stop-reason.ts';
import type { StopWatch } from './stop-watch.ts';

export interface ExecRequest {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs under this uid and gid; null: under the runner's own. */
  readonly uid: number | null;
  /** File that standard output and standard error are appended to. */
  readonly log: string;
  /** File that standard output goes to instead; overwritten. */
  readonly captureTo?: string;
  /** File that standard input comes from; absent: nothing. */
  readonly inputFrom?: string;
  /** Called with the new child; `hasChannel` makes descriptor 3 a socket between it and the runner. */
  readonly onStart?: (child: ChildProcess) => void;
  readonly hasChannel?: boolean;
  /** Runs in a sandbox of its own; absent: with all that its uid may do. */
  readonly sandbox?: { readonly isolation: Isolation; readonly places: Sandbox };
  /**
   * Leaves nothing that an interrupt would tidy up: the end of the runner may kill it, which saves the
   * programs that pass on an interrupt.
   */
  readonly isDisposable?: boolean;
  /**
   * Processes that the interrupt goes to: the program alone (absent), or also the processes that it has
   * started and not detached. `twice`: the program gets two, because it passes an interrupt on to what it has started
   * only with the second one.
   */
  readonly interrupts?: 'all' | 'twice';
  /**
   * A second interrupt would lose what the command has created: one more process makes sure that the end of
   * the runner sends only one.
   */
  readonly isInterruptedOnce?: boolean;
  /** Limits of its use of the machine; absent: none. */
  readonly limits?: RunLimits;
  readonly stop: StopWatch;
  /** From the interrupt to the kill. */
  readonly abortSeconds: number;
}

export interface ExecResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly milliseconds: number;
  /** Why it was stopped from outside; null if it ended on its own. */
  readonly stop: StopReason | null;
}
