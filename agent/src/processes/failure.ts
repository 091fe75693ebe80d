/**
 * How a phase ends that does not end well. Thrown anywhere below a phase, turned into its outcome in one
 * place.
 */
import type { Outcome } from '#protocol/messages.ts';

export interface FailureFacts {
  readonly result: Exclude<Outcome['result'], 'planned' | 'applied'>;
  /** What a person reads as `failedCommand`. */
  readonly failedCommand?: string;
  readonly exitCode?: number;
}

export class RunFailure extends Error {
  readonly facts: FailureFacts;

  constructor(message: string, facts: FailureFacts = { result: 'failed' }) {
    super(message);
    this.name = 'RunFailure';
    this.facts = facts;
  }
}
