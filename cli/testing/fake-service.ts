/** Runs the command line against a service that answers what a test lists. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { type CommandResult, runCommand } from './run-command.ts';

export const environmentId = '019366a0-0000-7000-8000-000000000001';
export const deploymentId = '019366a0-0000-7000-8000-000000000002';

/** A request that the service received. */
export interface SeenRequest {
  readonly call: string;
  readonly query: Readonly<Record<string, string>>;
  /** Undefined also for bytes. */
  readonly body: unknown;
}

/** The body of a reply, or a function that answers. */
export type FakeReply = object | ((request: IncomingMessage, response: ServerResponse) => void);

export interface FakeRun extends CommandResult {
  readonly seen: readonly SeenRequest[];
}

/** An environment as far as commands read it. */
export function fakeEnvironment(more: object = {}): object {
  return {
    id: environmentId,
    name: 'web',
    status: 'ACTIVE',
    projectId: 'p1',
    organizationId: 'o1',
    requiresApproval: true,
    isArchived: false,
    latestDeploymentLog: fakeDeployment(),
    ...more,
  };
}

/** A deployment as far as commands read it. */
export function fakeDeployment(more: object = {}): object {
  return { id: deploymentId, type: 'deploy', status: 'SUCCESS', reviewers: [], output: null, ...more };
}

/** Answers a stream of events, and ends it only after the `end` event. */
export function fakeStream(...events: readonly { event: string; data: object }[]): FakeReply {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [index, { event, data }] of events.entries())
      response.write(`id: ${index + 1}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (events.at(-1)?.event === 'end') response.end();
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const isJson = request.headers['content-type'] === 'application/json';
  return text === '' || !isJson ? undefined : JSON.parse(text);
}

/**
 * Runs a command to its end.
 * @param args of the command
 * @param replies by method and path without query, such as `GET /environments`
 * @param interruptAt text on standard error at which the command gets a SIGINT
 */
export async function runAgainst(
  args: readonly string[],
  replies: Readonly<Record<string, FakeReply>>,
  { interruptAt, env = {} }: { readonly interruptAt?: string; readonly env?: Record<string, string> } = {},
): Promise<FakeRun> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const path = pathname.replace('/api', '');
    const query = Object.fromEntries(searchParams);
    const call = `${request.method} ${path}`;
    seen.push({ call, query, body: await bodyOf(request) });
    const reply = replies[call];
    response.setHeader('content-type', 'application/json');
    if (typeof reply === 'function') return reply(request, response);
    response.statusCode = reply ? 200 : 404;
    response.end(JSON.stringify(reply ?? { code: 'not_found', message: `Nothing at ${call}` }));
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const login = {
    ENVARIUM_API_URL: `http://127.0.0.1:${port}`,
    ENVARIUM_API_KEY: 'key',
    ENVARIUM_API_SECRET: 'a-secret-for-tests',
  };
  try {
    const result = await runCommand(args, {
      env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), ...login, ...env },
      ...(interruptAt === undefined ? {} : { interruptAt }),
    });
    return { ...result, seen };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
