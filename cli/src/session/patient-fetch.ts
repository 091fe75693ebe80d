/** `fetch` that waits if the service says so, and retries requests that can safely be sent twice. */
import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import { isBrokenConnection, isTemporaryStatus } from '#contract/client/temporary-errors.ts';

export interface Patience {
  readonly fetch: typeof fetch;
  /** Tells a person why nothing moves. */
  readonly tell: (text: string) => void;
}

const longestWaitSeconds = 60;

/** A response that is worth another attempt. */
class TemporaryAnswer extends Error {
  readonly answer: Response;

  constructor(answer: Response) {
    super(`status ${answer.status}`);
    this.answer = answer;
  }
}

/** Seconds to wait according to `retry-after`; null without the header, or if the wait would be too long. */
function secondsToWait(retryAfter: string | null, now: number): number | null {
  if (retryAfter === null) return null;
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - now) / 1000;
  return Number.isNaN(seconds) || seconds > longestWaitSeconds ? null : Math.max(0, Math.ceil(seconds));
}

/** Tests and previews of discovery ask others each time, whatever key comes with them. */
const asksOthers = (path: string) => /\/test$|\/environment-discovery\/.*\/preview$/.test(path);

/** Creating requests get a key: the service carries them out once, however often it receives them. */
function withKey(path: string, init: RequestInit): { init: RequestInit; mayRepeat: boolean } {
  const headers = new Headers(init.headers);
  if (
    init.method === 'POST' &&
    !asksOthers(path) &&
    headers.get('content-type') !== 'application/octet-stream' &&
    !headers.has('idempotency-key')
  )
    headers.set('idempotency-key', crypto.randomUUID());
  return { init: { ...init, headers }, mayRepeat: init.method === 'GET' || headers.has('idempotency-key') };
}

/** The response as `fetch` would have answered it, when attempts are over. */
function asAnswer(error: unknown): Response {
  if (error instanceof TemporaryAnswer) return error.answer;
  throw error;
}

/**
 * @returns a `fetch` that waits out 429 as `retry-after` demands, up to a minute in total, and repeats GET and
 * creating requests after a broken connection or a temporary failure of the service; everything else is
 * returned and thrown unchanged
 */
export function patientFetch({ fetch: send, tell }: Patience): typeof fetch {
  return async (input, options = {}) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const { init, mayRepeat } = withKey(pathname, options);
    const signal = options.signal ?? undefined;
    let waited = 0;

    const attempt = async () => {
      const answer = await send(input, init);
      if (isTemporaryStatus(answer.status)) throw new TemporaryAnswer(answer);
      return answer;
    };
    const attempts = () =>
      pRetry(attempt, {
        retries: mayRepeat ? 2 : 0,
        minTimeout: 300,
        factor: 3,
        signal,
        shouldRetry: async ({ error }) => {
          if (!(error instanceof TemporaryAnswer)) return isBrokenConnection(error);
          if (error.answer.status === 429) return false;
          await error.answer.body?.cancel();
          return true;
        },
      });
    return pRetry(attempts, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      signal,
      shouldRetry: async ({ error }) => {
        if (!(error instanceof TemporaryAnswer) || error.answer.status !== 429) return false;
        const seconds = secondsToWait(error.answer.headers.get('retry-after') ?? '1', Date.now());
        if (seconds === null || waited + seconds > longestWaitSeconds) return false;
        await error.answer.body?.cancel();
        waited += Math.max(1, seconds);
        tell(`Rate limit reached for this key: trying again in ${seconds} s.`);
        await delay(seconds * 1000, undefined, { signal });
        return true;
      },
    }).catch(asAnswer);
  };
}
