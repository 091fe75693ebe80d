/** The failure of a phase: thrown anywhere within it and turned into its outcome in one place. */
import type { Outcome } from '#protocol/messages/outcome.ts';

export interface FailureFacts {
  readonly result: Exclude<Outcome['result'], 'planned' | 'applied'>;
  /** Shown to people as `failedCommand`. */
  readonly failedCommand?: string;
  readonly exitCode?: number;
  /** How often the changing command was repeated. */
  readonly retryCount?: number;
}

/** Parts of an outcome that are known early and included however the attempt ends. */
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

/** Converts any error to a failure; an unexpected one is the runner's own fault. */
export function asFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  const { message } = error as Error;
  return new RunFailure(`the runner failed: ${message}`, { result: 'internal' }, {}, { cause: error });
}

/**
 * Runs the rest of a task after some facts have become known.
 * @throws RunFailure that includes these facts; its own facts take precedence
 */
export async function withFacts<Value>(known: OutcomeFacts, rest: () => Promise<Value>): Promise<Value> {
  try {
    return await rest();
  } catch (error) {
    const failure = asFailure(error);
    throw new RunFailure(failure.message, failure.facts, { ...known, ...failure.known }, { cause: error });
  }
}
