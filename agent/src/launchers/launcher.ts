/**
 * Starts runners, and finds runners that an earlier agent process started. Each kind of place for runs has a
 * launcher; agent and runner share only the spool folder.
 */
import type { ProcessIdentity } from '../processes/proc.ts';
import type { RunnerOrder } from '../spool/layout.ts';

/** A runner that this agent process or an earlier one started. */
export interface Runner {
  hasEnded(): boolean;
  /** @returns false if it has ended */
  signal(signal: NodeJS.Signals): boolean;
  /** Whether it may execute another order after the outcome of the one that it has. */
  readonly mayContinue: boolean;
  /** The processes that it started, as far as the place knows them. */
  rest(): number[];
  /**
   * Ends it and everything that it started, as far as the place knows that.
   * @throws an Error that names the remaining processes
   */
  endRest(): Promise<void>;
}

/** Agent's view of a runner that it starts. */
export interface RunnerListener {
  /** Records which runner gets the order, before it gets it. */
  chosen(identity: ProcessIdentity): void;
  /** The runner has executed the order or has ended, with an outcome or without. */
  ended(): void;
}

export interface Launcher extends Disposable {
  /** Keeps a runner ready as long as there are fewer than that many, so that runs need not wait for one. */
  warm(most: number): void;
  /**
   * Gives the order to a ready runner, or else to a new one. A runner that ends before it reads the order
   * leaves no outcome, which the agent notices.
   * @param preferred gets the order if it is ready
   * @throws an Error if the agent is shutting down, and what `chosen` throws: then no runner has the order
   */
  start(order: RunnerOrder, listener: RunnerListener, preferred?: ProcessIdentity): Promise<void>;
  /** Finds a runner by its identity, whichever agent process started it. */
  runnerOf(identity: ProcessIdentity): Runner;
  /**
   * Ends what runners of earlier agent processes left, except the runners of attempts that continue.
   * @throws an Error that names the remaining processes
   */
  endOthers(toKeep: readonly ProcessIdentity[]): Promise<void>;
}
