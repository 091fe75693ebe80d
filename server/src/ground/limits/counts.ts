/** Counts that begin again a minute after their first addition: of requests, of failures. */

export const windowMilliseconds = 60_000;

export interface Count {
  readonly count: number;
  /** Until it begins again. */
  readonly milliseconds: number;
}

export interface Counts {
  /**
   * Adds one.
   * @param limit of the caller: how far the count is beyond it does not matter
   * @returns the count with the one that was added
   */
  add(name: string, limit: number): Promise<Count>;
  /** The current count. */
  read(name: string): Promise<Count>;
  /** Immediate local counts of this server. */
  peek(name: string): Count;
}

/** The counts of a server, shared with the others where a store is configured. */
export interface Limits extends AsyncDisposable {
  readonly requests: Counts;
  readonly failures: Counts;
}
