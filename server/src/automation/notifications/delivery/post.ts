/** Posts a body to the address of an endpoint: guarded, with limits of time and of what is read of the answer. */
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerSettings } from '../../../ground/config/config.ts';
import {
  ClosedAddress,
  type GuardSettings,
  guardedLookup,
  problemOfAddress,
} from '../endpoints/guarded-address.ts';
import { errorOf, mostAnswerBytes, type SentNotification, shownText, timeLimitMilliseconds } from './sent.ts';

export type PostSettings = GuardSettings & Pick<ServerSettings, 'notificationProxy'>;

export interface Post {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Never shown, wherever an answer or an error repeats them. */
  readonly secrets: readonly string[];
}

/** Once the status is there, the rest of an answer is not worth more. */
const mostBodyMilliseconds = 2000;

function agentFor(url: URL, { notificationProxy: proxy }: PostSettings) {
  const options = {
    keepAlive: false,
    ...(proxy === undefined ? {} : { proxyEnv: { HTTPS_PROXY: proxy, HTTP_PROXY: proxy } }),
  };
  return url.protocol === 'https:' ? new Agent(options) : new PlainAgent(options);
}

/** The first bytes of an answer; of one that does not end, what came in time. */
async function beginningOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const read = async () => {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= mostAnswerBytes) return;
    }
  };
  const ended = new AbortController();
  await Promise.race([
    read().catch(() => undefined),
    delay(mostBodyMilliseconds, undefined, { signal: ended.signal }).catch(() => undefined),
  ]);
  ended.abort();
  answer.destroy();
  return Buffer.concat(pieces).subarray(0, mostAnswerBytes).toString('utf8');
}

function send(settings: PostSettings, url: URL, post: Post, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const open: (url: URL, options: object) => ClientRequest =
      url.protocol === 'https:' ? request : plainRequest;
    const lookup = settings.notificationProxy === undefined ? { lookup: guardedLookup(settings) } : {};
    const sent = open(url, {
      method: 'POST',
      agent: agentFor(url, settings),
      headers: { ...post.headers, 'content-length': String(Buffer.byteLength(post.body)) },
      signal,
      maxHeaderSize: 16_384,
      ...lookup,
    });
    sent.on('response', (answer) => {
      // Of a connection that is cut while the rest is read.
      answer.on('error', () => undefined);
      resolve(answer);
    });
    sent.on('error', reject);
    sent.end(post.body);
  });
}

function problemOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return `It answered with status ${status}, a redirect, which is not followed: use the address that it leads to`;
  return `It answered with status ${status}`;
}

/** Never throws: what went wrong is part of what it returns. @param closing aborted when the server stops */
export async function postTo(
  settings: PostSettings,
  post: Post,
  closing: AbortSignal,
): Promise<SentNotification> {
  const { address, headers, body, secrets } = post;
  const problem = problemOfAddress(settings, address);
  const url = URL.parse(address);
  if (url === null || problem !== null)
    return { request: null, response: null, error: { type: 'unknown', message: `The address ${problem}` } };
  const shown = { method: 'POST', address: `${url.origin}/…`, headers: { ...headers }, body };
  const late = AbortSignal.timeout(timeLimitMilliseconds);
  try {
    const answer = await send(settings, url, post, AbortSignal.any([late, closing]));
    const { statusCode: status = 0 } = answer;
    const message = problemOfStatus(status);
    const response = { status, body: shownText(await beginningOf(answer), secrets) };
    return { request: shown, response, error: message === null ? null : { type: 'unknown', message } };
  } catch (error) {
    const reason: unknown = late.aborted ? late.reason : error;
    const wasSent = !(error instanceof ClosedAddress);
    return { request: wasSent ? shown : null, response: null, error: errorOf(reason, secrets) };
  }
}
