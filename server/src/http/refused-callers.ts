/**
 * Counts refused credentials by the address they came from. After a number of them, an address is refused
 * without a look at its credentials until its minute is over, with one exception: credentials that were valid
 * from there before. People who share an address with somebody who guesses can therefore continue to work.
 */
import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import type { Events } from '../events/events.ts';
import { Refusal, TooManyRequests } from './errors.ts';

const windowMilliseconds = 60_000;
/** More addresses than this, and the one that was counted first is forgotten. */
const mostAddresses = 10_000;
const mostKnown = 10_000;

/** 401 for credentials that are missing or not valid. */
export class CredentialsRefused extends Refusal {
  /** The id of an existing key whose secret was wrong; any other text may be a secret, and is never kept. */
  readonly keyId: string | null;

  constructor(message: string, keyId: string | null) {
    super('unauthorized', message);
    this.keyId = keyId;
  }
}

/** What an address was refused for since the last summary. */
export interface RefusedAddress {
  readonly address: string;
  /** Credentials that were checked and refused. */
  failures: number;
  /** Requests that were refused without a check. */
  unchecked: number;
  readonly keyIds: Set<string>;
}

interface Counted {
  readonly until: number;
  failures: number;
  checking: number;
  readonly waiting: (() => void)[];
}

/** An address as it is counted: whoever has one address of IPv6 has 2^64 of them. */
export function countedAddress(ip: string): string {
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const [left, right] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = address.includes('::') ? 8 - (left?.length ?? 0) - (right?.length ?? 0) : 0;
  const groups = [...(left ?? []), ...Array.from({ length: zeros }, () => '0'), ...(right ?? [])];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Adds at the end of a map, and removes its oldest entry where it has more than `most`. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

export class RefusedCallers {
  readonly #limit: number;
  readonly #now: Context['now'];
  readonly #log: Context['log'];
  readonly #counted = new Map<string, Counted>();
  readonly #known = new Map<string, true>();
  readonly #summary = new Map<string, RefusedAddress>();

  constructor({ settings, now, log }: Pick<Context, 'settings' | 'now' | 'log'>) {
    this.#limit = settings.failureLimit;
    this.#now = now;
    this.#log = log;
  }

  /**
   * Checks a caller, and counts it where it is refused.
   * @param identify throws `CredentialsRefused`
   * @throws TooManyRequests instead where its address was refused too often
   */
  async check<Caller>(request: FastifyRequest, identify: () => Promise<Caller>): Promise<Caller> {
    const address = countedAddress(request.ip);
    const pair = this.#pairOf(address, request);
    const isKnown = this.#known.has(pair);
    const counted = this.#limit === 0 || isKnown ? null : await this.#turnOf(address, request);
    try {
      const caller = await identify();
      keep(this.#known, pair, true, mostKnown);
      return caller;
    } catch (error) {
      if (error instanceof CredentialsRefused) this.#note(address, request, error, counted);
      if (isKnown && error instanceof CredentialsRefused) this.#known.delete(pair);
      throw error;
    } finally {
      if (counted) {
        counted.checking--;
        for (const wake of counted.waiting.splice(0)) wake();
      }
    }
  }

  /** What was refused since the last call, by address. */
  takeSummary(): RefusedAddress[] {
    const summary = [...this.#summary.values()];
    this.#summary.clear();
    return summary;
  }

  #pairOf(address: string, { headers: { authorization = '', cookie = '' } }: FastifyRequest): string {
    return `${address} ${hash('sha256', `${authorization}\n${cookie}`, 'base64')}`;
  }

  #countedOf(address: string): Counted {
    const now = this.#now().getTime();
    const found = this.#counted.get(address);
    if (found && found.until > now) return found;
    const counted = { until: now + windowMilliseconds, failures: 0, checking: 0, waiting: [] };
    keep(this.#counted, address, counted, mostAddresses);
    return counted;
  }

  /** As many checks at once as failures are left: a crowd of guesses is not faster than one after another. */
  async #turnOf(address: string, request: FastifyRequest): Promise<Counted> {
    for (;;) {
      const counted = this.#countedOf(address);
      if (counted.failures >= this.#limit) throw this.#tooMany(address, counted, request);
      if (counted.failures + counted.checking < this.#limit) {
        counted.checking++;
        return counted;
      }
      await new Promise<void>((resolve) => counted.waiting.push(resolve));
    }
  }

  #tooMany(address: string, { until }: Counted, request: FastifyRequest): TooManyRequests {
    this.#summaryOf(address).unchecked++;
    const seconds = Math.max(1, Math.ceil((until - this.#now().getTime()) / 1000));
    request.log.debug({ address }, 'credentials not checked: too many were refused');
    return new TooManyRequests(
      `More than ${this.#limit} requests with missing or wrong credentials came from your address in 60 s: try again in ${seconds} s`,
      seconds,
    );
  }

  #summaryOf(address: string): RefusedAddress {
    const found = this.#summary.get(address);
    if (found) return found;
    const entry = { address, failures: 0, unchecked: 0, keyIds: new Set<string>() };
    keep(this.#summary, address, entry, mostAddresses);
    return entry;
  }

  #note(
    address: string,
    { method, routeOptions: { url: route } }: FastifyRequest,
    { keyId }: CredentialsRefused,
    counted: Counted | null,
  ): void {
    const entry = this.#summaryOf(address);
    entry.failures++;
    if (keyId !== null && entry.keyIds.size < 10) entry.keyIds.add(keyId);
    const failures = counted ? ++counted.failures : undefined;
    const fields = { address, method, route, ...(keyId === null ? {} : { keyId }) };
    this.#log.warn({ ...fields, failures }, 'credentials refused');
    if (failures === this.#limit)
      this.#log.warn({ address }, 'too many refused credentials: this address is not checked for a minute');
  }
}

const servers = new WeakMap<Events, RefusedCallers>();

/** The callers that this server has refused. */
export function refusedCallers(context: Context): RefusedCallers {
  const found = servers.get(context.events) ?? new RefusedCallers(context);
  servers.set(context.events, found);
  return found;
}
