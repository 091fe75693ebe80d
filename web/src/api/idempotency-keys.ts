/** Keys that let the service do the same change once, however often it is sent. */
import { isStatus } from './errors.ts';
import { randomId } from './random-id.ts';

/** After this, the same input is a new wish: what is shown has long been current again. */
const keptMilliseconds = 600_000;

interface SentRequest {
  readonly text: string;
  readonly key: string;
  readonly at: number;
}

/**
 * The keys of one form or button: a second click while the first is under way, and what is sent again because no
 * answer came, have the key of the first.
 */
export class IdempotencyKeys {
  #sent: SentRequest | undefined;

  /** @param now in milliseconds since 1970 @returns the key to send this input with */
  keyOf(input: unknown, now = Date.now()): string {
    const text = JSON.stringify(input);
    const isSame = this.#sent?.text === text && now - this.#sent.at < keptMilliseconds;
    this.#sent = { text, key: isSame ? this.#sent!.key : randomId(), at: now };
    return this.#sent.key;
  }

  /** Notes how a call ended. @param error undefined: well; without an answer the key stays */
  ended(error?: unknown): void {
    if (error === undefined || !isStatus(error, 0, 502, 503, 504)) this.#sent = undefined;
  }
}
