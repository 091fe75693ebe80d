/**
 * `fetch` that waits where the service says so, and tries again what can be sent twice without being done
 * twice.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Patience {
  readonly fetch: typeof fetch;
  /** Tells a person why nothing moves. */
  readonly tell: (text: string) => void;
}

const passingStatuses = new Set([502, 503, 504]);
/** What broke off a request that may have been read already; a refused connection is no such. */
const brokenCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ETIMEDOUT']);
const pausesMilliseconds = [300, 1_000];
const longestWaitSeconds = 60;

function codeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? (error as { code?: unknown } | null)?.code : codeOf(cause);
}

/**
 * Seconds that an answer asks to wait, from a number or a date; null where it says nothing or more than
 * anybody waits.
 */
export function secondsToWait(retryAfter: string | null, now: number): number | null {
  if (retryAfter === null) return null;
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - now) / 1000;
  return Number.isNaN(seconds) || seconds > longestWaitSeconds ? null : Math.max(0, Math.ceil(seconds));
}

/** A creating request gets a key, under which the service does it once however often it comes. */
function withKey(init: RequestInit): { init: RequestInit; mayRepeat: boolean } {
  const headers = new Headers(init.headers);
  if (
    init.method === 'POST' &&
    headers.get('content-type') !== 'application/octet-stream' &&
    !headers.has('idempotency-key')
  )
    headers.set('idempotency-key', crypto.randomUUID());
  return { init: { ...init, headers }, mayRepeat: init.method === 'GET' || headers.has('idempotency-key') };
}

/**
 * @returns a `fetch` that waits out 429 by its `retry-after`, up to a minute in all, and sends GET and
 * creating requests again after a broken connection or 502, 503, 504; everything else answers and throws as
 * it comes
 */
export function patientFetch({ fetch: send, tell }: Patience): typeof fetch {
  return async (input, given = {}) => {
    const { init, mayRepeat } = withKey(given);
    const signal = given.signal ?? undefined;
    let waited = 0;
    for (let failures = 0; ; ) {
      const pause = mayRepeat ? pausesMilliseconds[failures] : undefined;
      let answer: Response;
      try {
        answer = await send(input, init);
      } catch (error) {
        if (pause === undefined || signal?.aborted || !brokenCodes.has(String(codeOf(error)))) throw error;
        failures++;
        await delay(pause, undefined, { signal });
        continue;
      }
      const seconds =
        answer.status === 429 ? secondsToWait(answer.headers.get('retry-after') ?? '1', Date.now()) : null;
      if (seconds !== null && waited + seconds <= longestWaitSeconds) {
        await answer.body?.cancel();
        waited += Math.max(1, seconds);
        tell(`The service takes no more requests of this key for now: trying again in ${seconds} s.`);
        await delay(seconds * 1000, undefined, { signal });
        continue;
      }
      if (!passingStatuses.has(answer.status) || pause === undefined) return answer;
      failures++;
      await answer.body?.cancel();
      await delay(pause, undefined, { signal });
    }
  };
}
