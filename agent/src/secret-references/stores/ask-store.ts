/** Calls of the HTTP interfaces of stores: bounded, without redirects, and without their answers in messages. */
import { repeatRequest } from '#clouds/repeat-request.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { networkReason } from '../../network/network-reason.ts';
import { SecretProblem } from './secret-store.ts';

/** Larger than any secret that the stores keep. */
const maxBytes = 2_000_000;

export interface StoreCall {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form with POST; absent: GET. */
  readonly form?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface StoreAnswer {
  readonly status: number;
  /** Null if the body is not JSON. */
  readonly body: unknown;
}

/**
 * Calls a store, and again, twice, if the call failed in a way that may pass.
 * @throws SecretProblem if there is no usable answer; the signal's reason
 */
export async function askStore(call: StoreCall): Promise<StoreAnswer> {
  // A Vault that is sealed answers 503, and stays sealed.
  return repeatRequest(() => askOnce(call), { signal: call.signal, isFinal: ({ status }) => status === 503 });
}

async function askOnce({ url, headers = {}, form, signal }: StoreCall): Promise<StoreAnswer> {
  signal.throwIfAborted();
  const { origin } = new URL(url);
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers },
      // A redirect would take the credentials to another host.
      redirect: 'manual',
      signal,
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new SecretProblem(`${origin} redirects to another address, which is not followed`);
    }
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of response.body ?? []) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new SecretProblem(`${origin} sends more than ${maxBytes} bytes`);
      pieces.push(piece);
    }
    return { status: response.status, body: parsed(Buffer.concat(pieces).toString('utf8')) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SecretProblem) throw error;
    throw new SecretProblem(`${origin} cannot be reached: ${networkReason(error)}`, { cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return null;
  }
}
