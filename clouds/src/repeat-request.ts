/** Repeats requests that may be sent more than once, where that can help. */
import pRetry from 'p-retry';
import { errorCode, isTemporary, isTemporaryStatus } from '#contract/client/temporary-errors.ts';

/** The answer reports trouble that may be temporary. */
class Busy extends Error {}

/**
 * Repeats a request, at most twice, if the failure may be temporary.
 * @param options.isFinal whether an answer stays as it is, whatever its status says
 * @returns the last answer
 * @throws what `ask` throws, if there was no answer at all; the signal's reason
 */
export async function repeatRequest<Answer extends { readonly status: number }>(
  ask: () => Promise<Answer>,
  { signal, isFinal = () => false }: { signal: AbortSignal; isFinal?: (answer: Answer) => boolean },
): Promise<Answer> {
  let last: Answer | undefined;
  try {
    return await pRetry(
      async () => {
        last = await ask();
        if (isTemporaryStatus(last.status) && !isFinal(last)) throw new Busy();
        return last;
      },
      {
        retries: 2,
        minTimeout: 300,
        signal,
        shouldRetry: ({ error }) => error instanceof Busy || (errorCode(error) !== '' && isTemporary(error)),
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    if (last !== undefined) return last;
    throw error;
  }
}
