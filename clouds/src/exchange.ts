/**
 * Requests to addresses that people store in credentials: with limits of time and size, only over https and only to
 * public addresses unless the operator names the host. Redirects are not followed.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { checkedLookup, RefusedAddress, refuseAddress } from '#guards/private-addresses.ts';
import { repeatRequest } from './repeat-request.ts';

/** The operator's hosts, `name` or `name:port`: they may have private addresses and use plain http. */
export type PrivateHosts = ReadonlySet<string>;

/** The setting that lists them. */
const privateHostsSetting = 'ENVARIUM_CREDENTIAL_PRIVATE_HOSTS';

/** A cloud that refused or did not answer; the message is the end of a sentence, without secrets. */
export class CloudProblem extends Error {
  override readonly name = 'CloudProblem';
}

export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Certificates and keys as PEM, for this connection only. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly privateHosts: PrivateHosts;
  readonly signal: AbortSignal;
}

const waitMilliseconds = 15_000;
const mostBytes = 1_000_000;

async function textOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new CloudProblem(`answered with more than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function ask({ method, url, headers = {}, body, tls = {}, privateHosts, signal }: Exchange) {
  const isTrusted = privateHosts.has(url.host) || privateHosts.has(url.hostname);
  if (!isTrusted) refuseAddress(url, privateHostsSetting);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const lookup = isTrusted ? {} : { lookup: checkedLookup(host, privateHostsSetting) };
  const isTls = url.protocol === 'https:';
  return new Promise<IncomingMessage>((resolve, reject) => {
    const start = isTls ? httpsRequest : httpRequest;
    const options = { method, headers, signal, ...lookup, ...(isTls ? tls : {}) };
    start(url, options, resolve).once('error', reject).end(body);
  });
}

/** @throws CloudProblem */
export async function exchange(request: Exchange): Promise<{ status: number; text: string }> {
  const timeout = AbortSignal.timeout(waitMilliseconds);
  try {
    const answer = await ask({ ...request, signal: AbortSignal.any([request.signal, timeout]) });
    return { status: answer.statusCode ?? 0, text: await textOf(answer) };
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof CloudProblem) throw error;
    const { origin } = request.url;
    if (timeout.aborted)
      throw new CloudProblem(`gave no answer for ${waitMilliseconds / 1000} s (${origin})`, { cause: error });
    if (error instanceof RefusedAddress) throw new CloudProblem(error.message, { cause: error });
    throw new CloudProblem(`cannot be reached at ${origin}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * As `exchange`, for requests that may be sent more than once: they are, where that can help.
 * @returns the body, null if it is not JSON
 * @throws CloudProblem
 */
export async function exchangeJson(request: Exchange): Promise<{ status: number; body: unknown }> {
  const { status, text } = await repeatRequest(() => exchange(request), { signal: request.signal });
  try {
    return { status, body: JSON.parse(text) };
  } catch {
    return { status, body: null };
  }
}

/** A field of an answer, however it is formed. */
export function part(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string, unknown>)[key]
        : undefined,
    value,
  );
}

/** A field of an answer that is a text with something in it. */
export function textPart(value: unknown, ...path: readonly string[]): string | undefined {
  const found = part(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/**
 * Why the answer of a cloud cannot be used.
 * @param message what it says itself; its first line is shown
 */
export function refusal(cloud: string, status: number, message = ''): CloudProblem {
  const how = status === 404 ? `was not found by ${cloud}` : `was refused by ${cloud} with status ${status}`;
  const shown = shownText(message.split('\n', 1)[0] ?? '');
  return new CloudProblem(shown === '' ? how : `${how}: ${shown}`);
}

/** With the host of an address that the operator has determined. */
export function trusting(privateHosts: PrivateHosts, address: string): PrivateHosts {
  return new Set([...privateHosts, new URL(address).host]);
}

/** A part of a foreign text, safe to show. */
export function shownText(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 300);
}
