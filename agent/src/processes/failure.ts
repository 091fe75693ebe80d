/**
 * How a phase ends that does not end well. Thrown anywhere below a phase, turned into its outcome in one
 * place.
 */
import type { Outcome } from '#protocol/messages/outcome.ts';

export interface FailureFacts {
  readonly result: Exclude<Outcome['result'], 'planned' | 'applied'>;
  /** What a person reads as `failedCommand`. */
  readonly failedCommand?: string;
  readonly exitCode?: number;
  /** How often the changing command was repeated. */
  readonly retryCount?: number;
}

/** What is known of an outcome before its end: it is part of the outcome however the attempt ends. */
export type OutcomeFacts = Partial<Outcome>;

export class RunFailure extends Error {
  readonly facts: FailureFacts;
  /** What was known of the outcome when it failed. */
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

/** An error of any kind as a failure: one that nobody expected is the runner's own fault. */
export function asFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  const { message } = error as Error;
  return new RunFailure(`the runner failed: ${message}`, { result: 'internal' }, {}, { cause: error });
}

/**
 * Does the rest of some work, for which some facts are known by now.
 * @throws RunFailure that carries them; what it knows itself is newer
 */
export async function withFacts<Value>(known: OutcomeFacts, rest: () => Promise<Value>): Promise<Value> {
  try {
    return await rest();
  } catch (error) {
    const failure = asFailure(error);
    throw new RunFailure(failure.message, failure.facts, { ...known, ...failure.known }, { cause: error });
  }
}
