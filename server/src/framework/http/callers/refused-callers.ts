/**
 * Counts refused credentials by the address they came from. After a number of them, an address is refused
 * without a look at its credentials until its minute is over, with one exception: credentials that were valid
 * from there before. People who share an address with a caller who guesses can therefore continue to work.
 */
import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { FifoMap, LruMap } from 'toad-cache';
import { Refusal, TooManyRequests } from '../../../ground/errors.ts';
import { countName } from '../../../ground/limits/count-name.ts';
import type { Counts, Limits } from '../../../ground/limits/counts.ts';
import type { Context } from '../../context.ts';

/** More addresses than this in a summary, and the first one is forgotten. */
const mostAddresses = 10_000;
const mostKnown = 10_000;

/** Why a key is refused although its secret is right. */
export type RefusalReason = 'expired' | 'foreign network';

/** 401 for credentials that are missing or not valid. */
export class CredentialsRefused extends Refusal {
  /** The id of an existing key; any other text may be a secret, and is never kept. */
  readonly keyId: string | null;

  /** Null: the secret was wrong, or there is no such key. */
  readonly reason: RefusalReason | null;

  constructor(message: string, keyId: string | null, reason: RefusalReason | null = null) {
    super('unauthorized', message);
    this.keyId = keyId;
    this.reason = reason;
  }
}

/** Refusals of an address since the last summary. */
export interface RefusedAddress {
  readonly address: string;
  /** Credentials that were checked and refused. */
  failures: number;
  /** Requests that were refused without a check. */
  unchecked: number;
  readonly keyIds: Set<string>;
  /** Keys whose secret was right. */
  readonly reasons: Map<string, RefusalReason>;
}

/** The checks of one address that are under way. */
interface Turn {
  checking: number;
  readonly waiting: (() => void)[];
}

/** An address as it is counted: a caller with one address of IPv6 has 2^64 of them. */
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

class RefusedCallers {
  readonly #limit: number;
  readonly #failures: Counts;
  readonly #nameOf: (address: string) => string;
  readonly #log: Context['log'];
  readonly #turns = new Map<string, Turn>();
  readonly #known = new LruMap<true>(mostKnown);
  readonly #summary = new FifoMap<RefusedAddress>(mostAddresses);

  constructor({ settings, limits, keyHash, log }: Pick<Context, 'settings' | 'limits' | 'keyHash' | 'log'>) {
    this.#limit = settings.failureLimit;
    this.#failures = limits.failures;
    this.#nameOf = (address) => countName(keyHash, ['address', address]);
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
    const isKnown = this.#known.get(pair) === true;
    const turn = this.#limit === 0 || isKnown ? null : await this.#turnOf(address, request);
    try {
      const caller = await identify();
      this.#known.set(pair, true);
      return caller;
    } catch (error) {
      if (error instanceof CredentialsRefused) await this.#note(address, request, error, turn !== null);
      if (isKnown && error instanceof CredentialsRefused) this.#known.delete(pair);
      throw error;
    } finally {
      if (turn) this.#endTurn(address, turn);
    }
  }

  /** Refusals since the last call, by address. */
  takeSummary(): RefusedAddress[] {
    const summary = [...this.#summary.items.values()].map(({ value }) => value);
    this.#summary.clear();
    return summary;
  }

  #pairOf(address: string, { headers: { authorization = '', cookie = '' } }: FastifyRequest): string {
    return `${address} ${hash('sha256', `${authorization}\n${cookie}`, 'base64')}`;
  }

  /** As many checks at once as failures are left: a crowd of guesses is not faster than one after another. */
  async #turnOf(address: string, request: FastifyRequest): Promise<Turn> {
    const name = this.#nameOf(address);
    for (;;) {
      const shared = await this.#failures.read(name);
      // Nothing may happen between this look and the check that it allows.
      const alone = this.#failures.peek(name);
      const { count, milliseconds } = alone.count > shared.count ? alone : shared;
      if (count >= this.#limit) throw this.#tooMany(address, milliseconds, request);
      const turn = this.#turns.get(address) ?? { checking: 0, waiting: [] };
      if (count + turn.checking < this.#limit) {
        turn.checking++;
        this.#turns.set(address, turn);
        return turn;
      }
      await new Promise<void>((resolve) => turn.waiting.push(resolve));
    }
  }

  #endTurn(address: string, turn: Turn): void {
    turn.checking--;
    if (turn.checking === 0) this.#turns.delete(address);
    for (const wake of turn.waiting.splice(0)) wake();
  }

  #tooMany(address: string, milliseconds: number, request: FastifyRequest): TooManyRequests {
    this.#summaryOf(address).unchecked++;
    const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
    request.log.debug({ address }, 'credentials not checked: too many were refused');
    return new TooManyRequests(
      `More than ${this.#limit} requests with missing or wrong credentials came from your address in 60 s: try again in ${seconds} s`,
      seconds,
    );
  }

  #summaryOf(address: string): RefusedAddress {
    const found = this.#summary.get(address);
    if (found) return found;
    const entry = { address, failures: 0, unchecked: 0, keyIds: new Set<string>(), reasons: new Map() };
    this.#summary.set(address, entry);
    return entry;
  }

  async #note(
    address: string,
    { method, routeOptions: { url: route } }: FastifyRequest,
    { keyId, reason }: CredentialsRefused,
    isCounted: boolean,
  ): Promise<void> {
    const entry = this.#summaryOf(address);
    entry.failures++;
    if (keyId !== null && entry.keyIds.size < 10) entry.keyIds.add(keyId);
    if (reason !== null && entry.keyIds.has(keyId ?? '')) entry.reasons.set(keyId ?? '', reason);
    const failures = isCounted
      ? (await this.#failures.add(this.#nameOf(address), this.#limit)).count
      : undefined;
    const fields = {
      address,
      method,
      route,
      ...(keyId === null ? {} : { keyId }),
      ...(reason ? { reason } : {}),
    };
    this.#log.warn({ ...fields, failures }, 'credentials refused');
    if (failures === this.#limit)
      this.#log.warn({ address }, 'too many refused credentials: this address is not checked for a minute');
  }
}

const servers = new WeakMap<Limits, RefusedCallers>();

/** The callers that this server has refused. */
export function refusedCallers(context: Context): RefusedCallers {
  const found = servers.get(context.limits) ?? new RefusedCallers(context);
  servers.set(context.limits, found);
  return found;
}
