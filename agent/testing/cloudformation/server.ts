/**
 * For tests: a server of the interfaces of CloudFormation (Query protocol) and of the part of S3 that it reads
 * templates from, as AWS documents them. Stacks live: their resources are created one after the other, services
 * refuse, updates are rolled back. What tests say to it is what people and services do to an account of AWS.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Account } from './account.ts';
import { AwsError } from './error.ts';
import { errorXml, queryOf, replyXml } from './xml.ts';

export interface StackServer extends AsyncDisposable {
  readonly url: string;
  readonly account: Account;
  /** Variables for a client of the server. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of the requested actions, in their order. */
  readonly requests: string[];
  /** AWS limits the rate of the next requests. */
  throttle(times: number): void;
  /** The credentials of everybody have expired. */
  expire(): void;
  /** The process ends although the server is there. */
  unref(): void;
  /** An action is never answered again. */
  hang(action: string): void;
  /** The answer to an action is held back, although it was carried out. @returns what sends it */
  holdAnswer(action: string): () => void;
  /** The credentials do not have the right to an action. */
  deny(action: string): void;
  /** Objects by bucket and key. */
  readonly objects: ReadonlyMap<string, Buffer>;
}

interface Faults {
  throttled: number;
  isExpired: boolean;
  readonly hanging: Set<string>;
  readonly held: Map<string, Promise<void>>;
  readonly denied: Set<string>;
}

/** Simulates S3 with buckets that exist once something is put into them, apart from `missing-…`. */
function answerS3(
  request: IncomingMessage,
  body: Buffer,
  objects: Map<string, Buffer>,
): { status: number; content: string } {
  const key = decodeURIComponent(new URL(request.url ?? '', 'http://host').pathname.slice(1));
  if (key.startsWith('missing-'))
    return {
      status: 404,
      content:
        '<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>',
    };
  if (request.method === 'PUT') {
    const sum = createHash('sha256').update(body).digest('base64');
    if ((request.headers['x-amz-checksum-sha256'] ?? sum) !== sum)
      return {
        status: 400,
        content:
          '<Error><Code>BadDigest</Code><Message>The SHA256 you specified did not match</Message></Error>',
      };
    objects.set(key, body);
    return { status: 200, content: '' };
  }
  if (request.method === 'DELETE') {
    objects.delete(key);
    return { status: 204, content: '' };
  }
  const found = objects.get(key);
  return found === undefined ? { status: 404, content: '' } : { status: 200, content: found.toString() };
}

function checkFaults(faults: Faults, action: string): void {
  if (faults.isExpired)
    throw new AwsError('ExpiredToken', 'The security token included in the request is expired', 403);
  if (faults.denied.has(action))
    throw new AwsError('AccessDenied', `not authorized to perform: cloudformation:${action}`, 403);
  if (faults.throttled > 0) {
    faults.throttled -= 1;
    throw new AwsError('Throttling', 'Rate exceeded');
  }
}

function send(response: ServerResponse, status: number, content: string): void {
  response.writeHead(status, { 'content-type': 'text/xml' }).end(content);
}

/** Source of templates for CloudFormation: the buckets of this server, and nothing else. */
function readerOf(objects: ReadonlyMap<string, Buffer>, url: () => string): (address: string) => string {
  return (address) => {
    const found = objects.get(decodeURIComponent(new URL(address).pathname.slice(1)));
    if (found === undefined || !address.startsWith(url()))
      throw new AwsError('ValidationError', 'S3 error: Access Denied');
    return found.toString();
  };
}

/** Starts a server on a free port of this machine. */
export async function startStackServer(): Promise<StackServer> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const faults: Faults = {
    throttled: 0,
    isExpired: false,
    hanging: new Set(),
    held: new Map(),
    denied: new Set(),
  };
  let url = '';
  const account = new Account(readerOf(objects, () => url));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    if (request.url !== '/' && request.url !== '') {
      const { status, content } = answerS3(request, body, objects);
      return send(response, status, content);
    }
    const query = queryOf(body.toString());
    const action = query.text('Action') ?? '';
    requests.push(action);
    if (faults.hanging.has(action)) return;
    try {
      checkFaults(faults, action);
      const reply = replyXml(action, account.answer(action, query));
      await faults.held.get(action);
      send(response, 200, reply);
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      send(response, error.status, errorXml(error.code, error.message));
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      send(response, 500, errorXml('InternalFailure', String(error))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    account,
    requests,
    objects,
    environment: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'testing',
      AWS_SECRET_ACCESS_KEY: 'testing-secret',
    },
    unref: () => server.unref(),
    throttle: (times) => (faults.throttled = times),
    expire: () => (faults.isExpired = true),
    hang: (action) => faults.hanging.add(action),
    holdAnswer(action) {
      const { promise, resolve } = Promise.withResolvers<void>();
      faults.held.set(action, promise);
      return resolve;
    },
    deny: (action) => faults.denied.add(action),
    async [Symbol.asyncDispose]() {
      account.cloud.release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await account.idle();
    },
  };
}
