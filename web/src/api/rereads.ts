/**
 * Reads again what events have made outdated: many events within a short time cost one reading of each. Lists
 * that show the event already wait longer, by a random time, so that many tabs do not ask at once.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { OperationName } from '#contract/operations.ts';

const soonMilliseconds = 100;
/** The shortest pause of a list that is current but for its order and its sums; the longest is twice as long. */
const laterMilliseconds = 1000;

/** Readings that wait for the same moment. */
class Gathering {
  readonly #queries: QueryClient;
  readonly #pause: () => number;
  #hashes = new Set<string>();
  #isUnderWay = false;

  constructor(queries: QueryClient, pause: () => number) {
    this.#queries = queries;
    this.#pause = pause;
  }

  add(hash: string): void {
    this.#hashes.add(hash);
    if (!this.#isUnderWay) void this.#readAgain();
  }

  /** Reads what was gathered, and then what was gathered in the meantime: a read in progress is never cut. */
  async #readAgain(): Promise<void> {
    this.#isUnderWay = true;
    while (this.#hashes.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, this.#pause()));
      const hashes = this.#hashes;
      this.#hashes = new Set();
      await this.#queries.invalidateQueries({ predicate: ({ queryHash }) => hashes.has(queryHash) });
    }
    this.#isUnderWay = false;
  }
}

/** The reads of a tab that are repeated. */
export class Rereads {
  readonly #queries: QueryClient;
  readonly #soon: Gathering;
  readonly #later: Gathering;

  /** @param queries where the reads are kept */
  constructor(queries: QueryClient) {
    this.#queries = queries;
    this.#soon = new Gathering(queries, () => soonMilliseconds);
    this.#later = new Gathering(queries, () => laterMilliseconds * (1 + Math.random()));
  }

  /**
   * @param names reads that an event concerns
   * @param shown hashes of those that show already what it announced; of them, only lists wait
   */
  take(names: readonly OperationName[], shown: ReadonlySet<string>): void {
    for (const { queryHash, queryKey } of this.#queries.getQueryCache().findAll()) {
      const name = queryKey[0] as OperationName;
      if (!names.includes(name)) continue;
      const isCurrent = name.startsWith('list') && shown.has(queryHash);
      (isCurrent ? this.#later : this.#soon).add(queryHash);
    }
  }

  /** For a read that changes with each of many events. @param id only the reads of this one */
  later(name: OperationName, id?: string): void {
    const queryKey = id === undefined ? [name] : [name, { params: { id } }];
    for (const { queryHash } of this.#queries.getQueryCache().findAll({ queryKey }))
      this.#later.add(queryHash);
  }
}
