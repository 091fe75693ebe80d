/**
 * Starts runners, and finds runners that an earlier agent process started. Each kind of place for runs has a
 * launcher; agent and runner share only the spool folder.
 */
import type { ProcessIdentity, RunnerOrder } from '../spool/layout.ts';

/** A runner that this agent process or an earlier one started. */
export interface Runner {
  hasEnded(): boolean;
  /** @returns false if it has ended */
  signal(signal: NodeJS.Signals): boolean;
}

/** A runner that is waiting for its order. */
export interface WaitingRunner {
  /** Recorded before the runner gets its order, to find it again. */
  readonly identity: ProcessIdentity;
  /** Sends the one order; if the runner has already ended, the agent notices the missing outcome. */
  sendOrder(order: RunnerOrder): void;
  /** Ends the runner without an order. */
  release(): void;
  /** Calls back once it has ended. */
  onEnd(callback: () => void): void;
}

export interface Launcher extends Disposable {
  /** Keeps this many runners ready, so that runs need not wait for one. */
  warm(count: number): void;
  /**
   * Returns a runner without an order: a ready one, or else a new one.
   * @throws an Error if the agent is shutting down
   */
  start(): Promise<WaitingRunner>;
  /** Finds a runner by its identity, whichever agent process started it. */
  find(identity: ProcessIdentity): Runner;
}
