/** The failure of a phase. Thrown anywhere below a phase, and turned into its outcome in one place. */
import type { Outcome } from '#protocol/messages/outcome.ts';

export interface FailureFacts {
  readonly result: Exclude<Outcome['result'], 'planned' | 'applied'>;
  /** Shown to people as `failedCommand`. */
  readonly failedCommand?: string;
  readonly exitCode?: number;
  /** How often the changing command was repeated. */
  readonly retryCount?: number;
}

/** Parts of an outcome that are known before its end, and that it contains however the attempt ends. */
export type OutcomeFacts = Partial<Outcome>;

export class RunFailure extends Error {
  readonly facts: FailureFacts;
  /** Parts of the outcome that were known when it failed. */
  readonly known: OutcomeFacts;

  constructor(
    message: string,
    facts: FailureFacts = { result: 'failed' },
    known: OutcomeFacts = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RunFailure';
    this.facts = facts;
    this.known = known;
  }
}

/** An error of any kind as a failure: an unexpected one is the runner's own fault. */
export function asFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  const { message } = error as Error;
  return new RunFailure(`the runner failed: ${message}`, { result: 'internal' }, {}, { cause: error });
}

/**
 * Does the rest of some work for which some facts are already known.
 * @throws RunFailure that carries them; facts of its own are newer
 */
export async function withFacts<Value>(known: OutcomeFacts, rest: () => Promise<Value>): Promise<Value> {
  try {
    return await rest();
  } catch (error) {
    const failure = asFailure(error);
    throw new RunFailure(failure.message, failure.facts, { ...known, ...failure.known }, { cause: error });
  }
}
