import type { OutcomeFacts } from '../processes/failure.ts';

/** Collects parts of an attempt's outcome as they become known; they are included however the attempt ends. */
export class FactCollector {
  #all: OutcomeFacts = {};

  /** Later values take precedence. */
  add(facts: OutcomeFacts): void {
    this.#all = { ...this.#all, ...facts };
  }

  get all(): OutcomeFacts {
    return this.#all;
  }
}
