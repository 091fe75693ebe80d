/**
 * How runners are started, and found again by an agent that did not start them. Each kind of place for runs
 * has a launcher; agent and runner share only the spool folder.
 */
import type { ProcessIdentity, RunnerOrder } from '../spool/layout.ts';

/** A runner that this agent or an earlier one has started. */
export interface Runner {
  hasEnded(): boolean;
  /** @returns false if it has ended */
  signal(signal: NodeJS.Signals): boolean;
}

/** A runner that waits for its order. */
export interface WaitingRunner {
  /** Identifies it later; recorded before it gets its order. */
  readonly identity: ProcessIdentity;
  /** Hands over the one order; if the runner has already ended, the agent notices that it left no outcome. */
  give(order: RunnerOrder): void;
  /** It gets no order after all: it ends. */
  release(): void;
  /** Calls back once it has ended. */
  onEnd(callback: () => void): void;
}

export interface Launcher extends Disposable {
  /** Keeps this many runners ready, so that a run does not wait for one. */
  warm(count: number): void;
  /**
   * A runner without an order: a ready one, else a new one.
   * @throws an Error if the agent is about to end
   */
  start(): Promise<WaitingRunner>;
  /** The runner of that identity, whoever started it. */
  find(identity: ProcessIdentity): Runner;
}
