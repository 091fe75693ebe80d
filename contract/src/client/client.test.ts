import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { DeploymentStreamEvent } from '../feeds/shapes.ts';
import { ApiError, createClient } from './client.ts';

type Handler = (request: IncomingMessage & { text: string }, response: ServerResponse) => void;

async function serve(handler: Handler) {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => handler(Object.assign(request, { text }), response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    client: createClient({ url, key: 'key', secret: 'sécret:1' }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function event(id: string, name: string, data: unknown): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

async function collect(stream: AsyncIterable<DeploymentStreamEvent>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of stream) ids.push(id);
  return ids;
}

describe('client', () => {
  it('follows no redirect, which would take the body to another address, and names where it leads', async () => {
    const seen: string[] = [];
    await using other = await serve((request, response) => {
      seen.push(request.text);
      json(response, 200, {});
    });
    await using server = await serve((request, response) =>
      response.writeHead(307, { location: `${other.url}${request.url}` }).end(),
    );
    const anonymous = createClient({ url: server.url, key: '', secret: '' });
    await assert.rejects(
      anonymous.call('signInCli', { body: { email: 'ada@example.com', password: 'hush' } }),
      (error: ApiError) => error.status === 307 && error.message.includes(`redirects to ${other.url}/api/`),
    );
    assert.deepEqual(seen, []);
  });

  it('sends credentials, path, query and body, and answers the reply', async () => {
    const seen: unknown[] = [];
    await using server = await serve((request, response) => {
      const { method, url, headers, text } = request;
      seen.push({
        method,
        url,
        authorization: headers.authorization,
        type: headers['content-type'],
        key: headers['idempotency-key'],
        version: headers['if-match'],
        text,
      });
      json(response, 200, { id: 'd1' }, { 'x-total-count': '7' });
    });
    await server.client.call('deployEnvironment', {
      params: { id: 'a/b' },
      body: { comment: 'ü', targets: 'a,b' },
      idempotencyKey: 'k1',
      ifMatch: '"v1"',
    });
    const { headers } = await server.client.send('listEnvironments', {
      query: { name: 'a & b', isActive: true, limit: 5 },
    });
    await createClient({ url: `${server.url}/api/`, key: 'key', secret: 's' }).call('approveDeployment', {
      params: { id: 'd1' },
    });
    assert.deepEqual(seen, [
      {
        method: 'POST',
        url: '/api/environments/a%2Fb/deployments',
        authorization: `Basic ${Buffer.from('key:sécret:1').toString('base64')}`,
        type: 'application/json',
        key: 'k1',
        version: '"v1"',
        text: '{"comment":"ü","targets":"a,b"}',
      },
      {
        method: 'GET',
        url: '/api/environments?name=a+%26+b&isActive=true&limit=5',
        authorization: `Basic ${Buffer.from('key:sécret:1').toString('base64')}`,
        type: undefined,
        key: undefined,
        version: undefined,
        text: '',
      },
      {
        method: 'PUT',
        url: '/api/environments/deployments/d1',
        authorization: `Basic ${Buffer.from('key:s').toString('base64')}`,
        type: undefined,
        key: undefined,
        version: undefined,
        text: '',
      },
    ]);
    assert.equal(headers.get('x-total-count'), '7');
  });

  it('throws a refusal with its code, message and request id', async () => {
    await using server = await serve((_, response) =>
      json(response, 409, {
        code: 'conflict',
        message: 'It is locked',
        requestId: 'r1',
        details: { by: 'u' },
      }),
    );
    await assert.rejects(server.client.call('getEnvironment', { params: { id: 'e1' } }), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(
        [error.status, error.code, error.message, error.requestId, error.details],
        [409, 'conflict', 'It is locked', 'r1', { by: 'u' }],
      );
      return true;
    });
  });

  it('says what something in between answered', async () => {
    await using server = await serve((_, response) =>
      response.writeHead(502, { 'x-request-id': 'r2' }).end('<h1>Bad gateway</h1>'),
    );
    await assert.rejects(server.client.call('listProjects'), {
      status: 502,
      code: 'unknown',
      requestId: 'r2',
      message: /502 Bad Gateway: <h1>Bad gateway/,
    });
  });

  it('says that a service cannot be reached, where, and why', async () => {
    const server = await serve(() => {});
    await server[Symbol.asyncDispose]();
    await assert.rejects(server.client.call('listProjects'), {
      status: 0,
      code: 'unreachable',
      message: new RegExp(`${server.url}/api cannot be reached: .*ECONNREFUSED`),
    });
  });

  it('answers bytes as they are', async () => {
    const bytes = Uint8Array.from([0, 255, 10, 128]);
    await using server = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes),
    );
    assert.deepEqual(await server.client.bytes('getStateContent', { params: { id: 's1' } }), bytes);
  });

  it('reads a reply up to a limit, closes the connection there, and names the limit', async () => {
    const closed: Promise<unknown>[] = [];
    await using server = await serve((request, response) => {
      closed.push(once(response, 'close'));
      const isRefusal = request.url?.includes('refused') === true;
      response.writeHead(isRefusal ? 502 : 200, { 'content-type': 'application/json' });
      const send = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', send);
      send();
    });
    const client = createClient({ url: server.url, replyLimitBytes: 1 << 20 });
    const message = new RegExp(`${server.url}/api to get\\w+ is larger than 1 MB, the limit for one reply`);
    const id = (text: string) => ({ params: { id: text } });
    await assert.rejects(client.call('getProject', id('p1')), { status: 200, code: 'unknown', message });
    await assert.rejects(client.call('getProject', id('refused')), { status: 502, message });
    await assert.rejects(client.bytes('getStateContent', id('s1')), { status: 200, message });
    assert.equal((await Promise.all(closed)).length, 3);
  });

  it('refuses wrong names and missing parts before anything is sent', () => {
    const client = createClient({ url: 'http://127.0.0.1:1', key: 'k', secret: 's' });
    const calls = () => {
      // @ts-expect-error params are missing
      void client.call('getEnvironment');
      // @ts-expect-error a required field of the body is missing
      void client.call('createProject', { body: { name: 'n' } });
      // @ts-expect-error not a field of the query
      void client.call('listEnvironments', { query: { names: 'n' } });
      void client
        .call('listEnvironments')
        .then(
          (environments) =>
            environments[0]?.latestDeploymentLog.finishedAt satisfies string | null | undefined,
        );
    };
    assert.equal(typeof calls, 'function');
    assert.throws(() => client.stream('streamDeployment', { params: { id: '' } }), /needs "id"/);
  });
});

describe('event stream of the client', () => {
  it('continues after the last event if a connection is lost, and ends with the `end` event', async () => {
    const lastIds: (string | string[] | undefined)[] = [];
    await using server = await serve((request, response) => {
      const from = request.headers['last-event-id'];
      lastIds.push(from);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (from === undefined) {
        response.write(
          event('1', 'status', { status: 'IN_PROGRESS' }) +
            event('2', 'log', { step: 'tf:plan', text: 'one\ntwo' }),
        );
        // Half an event: readers must not see it.
        response.end('id: 3\nevent: log\ndata: {"st', () => response.destroy());
      } else if (lastIds.length === 2) {
        response.destroy();
      } else {
        response.end(
          `: sign of life\n\n${event('3', 'log', { step: 'tf:plan', text: 'three' })}${event('4', 'end', { status: 'SUCCESS' })}${event('5', 'log', {})}`,
        );
      }
    });
    const events: DeploymentStreamEvent[] = [];
    for await (const each of server.client.stream('streamDeployment', { params: { id: 'd1' } }))
      events.push(each);
    assert.deepEqual(
      events.map(({ id }) => id),
      ['1', '2', '3', '4'],
    );
    assert.deepEqual(events[1], { id: '2', event: 'log', data: { step: 'tf:plan', text: 'one\ntwo' } });
    assert.deepEqual(lastIds, [undefined, '2', '2']);
  });

  it('starts after the event that the caller has', async () => {
    await using server = await serve((request, response) =>
      response.end(event(`after ${String(request.headers['last-event-id'])}`, 'end', {})),
    );
    assert.deepEqual(
      await collect(server.client.stream('streamDeployment', { params: { id: 'd1' }, lastEventId: 'x9' })),
      ['after x9'],
    );
  });

  it('ends where the service says that nothing will come', async () => {
    await using server = await serve((_, response) => response.writeHead(204).end());
    assert.deepEqual(await collect(server.client.stream('streamDeployment', { params: { id: 'd1' } })), []);
  });

  it('throws a refusal at once and does not ask again', async () => {
    let requests = 0;
    await using server = await serve((_, response) => {
      requests++;
      json(response, 404, { code: 'not_found', message: 'No deployment', requestId: 'r' });
    });
    await assert.rejects(collect(server.client.stream('streamDeployment', { params: { id: 'd1' } })), {
      status: 404,
      code: 'not_found',
    });
    assert.equal(requests, 1);
  });

  it('waits out a service that restarts', async () => {
    let requests = 0;
    await using server = await serve((_, response) =>
      ++requests === 1
        ? json(response, 503, { code: 'unavailable', message: 'Starting', requestId: 'r' })
        : response.end(event('1', 'end', {})),
    );
    assert.deepEqual(await collect(server.client.stream('streamDeployment', { params: { id: 'd1' } })), [
      '1',
    ]);
  });

  it('leaves a connection that has fallen silent', async () => {
    // On a busy machine, a connection may be cut before its first event: the service goes by what arrived.
    await using server = await serve(({ headers }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (headers['last-event-id'] === undefined) response.write(event('1', 'status', {}));
      else response.end(event('2', 'end', {}));
    });
    assert.deepEqual(
      await collect(server.client.stream('streamDeployment', { params: { id: 'd1' }, silenceSeconds: 0.2 })),
      ['1', '2'],
    );
  });

  it('gives up if the service stays unreachable', async () => {
    const server = await serve(() => {});
    await server[Symbol.asyncDispose]();
    await assert.rejects(
      collect(server.client.stream('streamDeployment', { params: { id: 'd1' }, giveUpAfterSeconds: 0 })),
      {
        code: 'unreachable',
      },
    );
  });

  it('stops when the caller says so, and leaves no connection behind', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await serve((_, response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event('1', 'status', {}));
    });
    const stop = new AbortController();
    const stream = server.client.stream('streamDeployment', { params: { id: 'd1' }, signal: stop.signal });
    assert.equal((await stream.next()).value?.id, '1');
    stop.abort(new Error('enough'));
    await assert.rejects(stream.next(), /enough/);
    await closed.promise;
  });
});
