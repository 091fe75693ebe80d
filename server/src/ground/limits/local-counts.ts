/**
 * Counts in the memory of this server, of which there is a bounded number. If there are too many, the oldest ones
 * are forgotten, but small ones never displace large ones: a caller who fills the memory with requests for many paths
 * resets only counts that are of no importance.
 */
import type { Context } from '../../framework/context.ts';
import { type Count, type Counts, windowMilliseconds } from './counts.ts';

interface CountEntry {
  readonly until: number;
  count: number;
}

/** Removes expired entries faster than new ones are added. */
const looksForEach = 2;

export interface LocalCountsOptions {
  readonly now: Context['now'];
  /** Number of small counts, and of large ones. */
  readonly most: number;
  /** From here on, a count is large. */
  readonly large: number;
}

export class LocalCounts implements Counts {
  readonly #options: LocalCountsOptions;
  /** Both in the order in which the counts were begun, so that the first ones end first. */
  readonly #small = new Map<string, CountEntry>();
  readonly #large = new Map<string, CountEntry>();

  constructor(options: LocalCountsOptions) {
    this.#options = options;
  }

  async add(name: string): Promise<Count> {
    return this.addNow(name);
  }

  async read(name: string): Promise<Count> {
    return this.peek(name);
  }

  peek(name: string): Count {
    const now = this.#options.now().getTime();
    const found = this.#find(name, now);
    return { count: found?.count ?? 0, milliseconds: found ? found.until - now : windowMilliseconds };
  }

  /** Adds one. @returns the count with it */
  addNow(name: string): Count {
    const now = this.#options.now().getTime();
    const entry = this.#find(name, now) ?? this.#begin(name, now);
    entry.count++;
    if (entry.count === this.#options.large) {
      this.#small.delete(name);
      this.#keep(this.#large, name, entry, now);
    }
    return { count: entry.count, milliseconds: entry.until - now };
  }

  #find(name: string, now: number): CountEntry | undefined {
    const found = this.#large.get(name) ?? this.#small.get(name);
    // A clock that was set back must not extend a minute.
    return found && found.until > now && found.until <= now + windowMilliseconds ? found : undefined;
  }

  #begin(name: string, now: number): CountEntry {
    this.#large.delete(name);
    const entry = { until: now + windowMilliseconds, count: 0 };
    this.#keep(this.#small, name, entry, now);
    return entry;
  }

  #keep(map: Map<string, CountEntry>, name: string, entry: CountEntry, now: number): void {
    map.delete(name);
    map.set(name, entry);
    let looks = looksForEach;
    for (const [oldest, { until }] of map) {
      if (looks-- === 0) return;
      if (until <= now || map.size > this.#options.most) map.delete(oldest);
    }
  }
}
