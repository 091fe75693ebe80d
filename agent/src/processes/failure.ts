/** The failure of a phase: thrown anywhere within it and turned into its outcome in one place. */
import type { Outcome } from '#protocol/messages/outcome.ts';

export interface FailureFacts {
  readonly result: Exclude<Outcome['result'], 'planned' | 'applied'>;
  /** Shown to people as `failedCommand`. */
  readonly failedCommand?: string;
  readonly exitCode?: number;
  /** Number of repetitions of the changing command. */
  readonly retryCount?: number;
}

/** Parts of an outcome that are known early and included however the attempt ends. */
export type OutcomeFacts = Partial<Outcome>;

export class RunFailure extends Error {
  readonly facts: FailureFacts;

  constructor(message: string, facts: FailureFacts = { result: 'failed' }, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RunFailure';
    this.facts = facts;
  }
}

/** Converts any error to a failure; an unexpected one is the runner's own fault. */
export function asFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  const { message } = error as Error;
  return new RunFailure(`the runner failed: ${message}`, { result: 'internal' }, { cause: error });
}
