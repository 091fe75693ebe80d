/** The server's side of the agent protocol over HTTP. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { JsonLimits } from '#guards/json-bytes.ts';
import { GoodbyeRequest, HeartbeatRequest, RegisterRequest } from '#protocol/messages/agent.ts';
import { blobNames, FenceOnly, MarkRequest, StateQuery } from '#protocol/messages/attempt.ts';
import { ClaimRequest } from '#protocol/messages/job.ts';
import { ReportRequest } from '#protocol/messages/report.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import type { Context } from '../../framework/context.ts';
import { ownAdmission } from '../../framework/http/callers/authenticate.ts';
import { bodyJsonLimits, readBytes } from '../../framework/http/parse-body.ts';
import { fastifyPath } from '../../framework/http/paths/known-methods.ts';
import { countRefusedCall } from '../../framework/http/refused-calls.ts';
import { Refusal } from '../../ground/errors.ts';
import type { AttemptInPlace } from '../../rows/dispatch/call-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { readStateBody } from '../state/import-state.ts';
import { readCurrentState } from '../state/read-current-state.ts';
import { receiveState, type ShippedState } from '../state/receive-state.ts';
import {
  type AgentCall,
  attemptOfCall,
  authenticateAgent,
  authenticateAgentKey,
  type CallingAgent,
  type CallingKey,
  exchangeSecret,
  onBehalfOf,
} from './authenticate-agent.ts';
import { getBlob, putBlob } from './blobs/attempt-blobs.ts';
import { claimJob } from './claim-job.ts';
import { limitConcurrency } from './finish/limit-concurrency.ts';
import { type FinishMessage, readFinish } from './finish/read-finish.ts';
import { finishAttempt } from './finish-attempt.ts';
import { receiveGoodbye, receiveHeartbeat } from './heartbeat.ts';
import { checkMessage, parseMessage } from './messages/parse-message.ts';
import { DispatchRefusal, ForeignAttempt } from './messages/refusals.ts';
import { registerAgent } from './register-agent.ts';
import { receiveReport } from './reports/receive-report.ts';
import { storeMark } from './store-mark.ts';

/** Of most messages; blobs and states are streams with limits of their own. */
const messageBytes = 64 * 1024;
/** Outcomes carry whole plans, and reports carry pieces of logs. */
const limits: Readonly<Record<string, { readonly bytes: number; readonly json: JsonLimits }>> = {
  report: { bytes: 1024 * 1024, json: bodyJsonLimits },
  finish: { bytes: 128 * 1024 * 1024, json: { depth: 128, values: 2_000_000 } },
};
const longestWaitSeconds = 25;

/** @throws Refusal 400 that names what is wrong with a message */
function reader<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const check = checkMessage(schema);
  return (value) => {
    const problem = check(value);
    if (problem !== null) throw new Refusal('bad_request', problem);
    return value as Static<S>;
  };
}

const read = {
  register: reader(RegisterRequest),
  heartbeat: reader(HeartbeatRequest),
  claim: reader(ClaimRequest),
  goodbye: reader(GoodbyeRequest),
  fence: reader(FenceOnly),
  report: reader(ReportRequest),
  mark: reader(MarkRequest),
  state: reader(StateQuery),
};

function pathOf(name: keyof typeof protocolRoutes): string {
  return fastifyPath(protocolRoutes[name].path);
}

function fenceOf(request: FastifyRequest): number {
  const fence = Number((request.query as { fence?: string }).fence);
  if (!Number.isSafeInteger(fence)) throw new Refusal('bad_request', '/query/fence is required');
  return fence;
}

/** @throws DispatchRefusal `fence_outdated` also for an attempt that has ended, which needs nothing any more */
function openAttemptOfCall(request: FastifyRequest): AttemptInPlace {
  const place = attemptOfCall(callOf(request), fenceOf(request));
  if (place.attempt.status === 'ended') throw new DispatchRefusal('fence_outdated', 'This attempt has ended');
  return place;
}

function blobName(request: FastifyRequest): (typeof blobNames)[number] {
  const { name } = request.params as { name?: string };
  const known = blobNames.find((each) => each === name);
  if (known === 'source' && request.method !== 'GET')
    throw new Refusal('bad_request', '/params/name source is read-only for agents');
  if (!known) throw new Refusal('bad_request', `/params/name must be one of ${blobNames.join(', ')}`);
  return known;
}

/** Caller, known before anything of a message is read: a process of an agent, or whoever has the secret of one. */
const calls = new WeakMap<FastifyRequest, AgentCall>();
const keys = new WeakMap<FastifyRequest, CallingKey>();

function callOf(request: FastifyRequest): AgentCall {
  const call = calls.get(request);
  if (!call) throw new Error(`${request.routeOptions.url} is called without an agent`);
  return call;
}

function callerOf(request: FastifyRequest): CallingAgent {
  return callOf(request).agent;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A call with the secret of the agent, which gives it a token for the others. */
    readonly takesSecret?: boolean;
    /** The call about an attempt whose limits apply to the message. */
    readonly message?: string;
  }
}

function admitAgents(plugin: FastifyInstance, context: Context): void {
  plugin.addHook('onRoute', (route) => {
    route.config = { ...route.config, ...ownAdmission };
  });
  plugin.addHook('onRequest', async (request) => {
    const isOfToken = /^bearer /i.test(request.headers.authorization ?? '');
    if (request.is404 ? !isOfToken : request.routeOptions.config.takesSecret === true)
      keys.set(request, await authenticateAgentKey(context, request));
    else calls.set(request, await authenticateAgent(context, request));
  });
}

/** Ends when the agent has closed its connection, or this server stops. */
function endOfWait({ stopping }: Context, reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const end = () => controller.abort();
  stopping.addEventListener('abort', end);
  if (stopping.aborted) end();
  // Of the response, not of the socket, which stays open for the agent's next calls.
  reply.raw.once('close', () => {
    stopping.removeEventListener('abort', end);
    end();
  });
  return controller.signal;
}

/** Refusals of an agent are logged, and counted for the audit trail if they were about the run of another. */
function noteRefusal(context: Context, request: FastifyRequest, error: FastifyError | DispatchRefusal): void {
  const agent = calls.get(request)?.agent;
  const agentKey = agent?.agent_key ?? keys.get(request)?.agentKey;
  const isRefusal =
    error instanceof DispatchRefusal || error instanceof Refusal || (error.statusCode ?? 500) < 500;
  if (agentKey === undefined || !isRefusal) return;
  const { url: operation = '' } = request.routeOptions;
  const { jobId } = request.params as { jobId?: string };
  if (error instanceof ForeignAttempt) {
    const { actor } = onBehalfOf(context, agentKey, request);
    // Anything else names no attempt: an agent can send any text.
    const entityId = jobId !== undefined && isUuid(jobId) ? jobId : undefined;
    return countRefusedCall(context, request, { actor, operation, entity: 'job', entityId });
  }
  const fields = { agentKey, agentId: agent?.id, operation, jobId, code: error.code, reason: error.message };
  request.log.warn(fields, 'call of an agent refused');
}

function renderRefusals(app: FastifyInstance, context: Context): void {
  const outer = app.errorHandler;
  app.setErrorHandler((error: FastifyError | DispatchRefusal, request, reply) => {
    noteRefusal(context, request, error);
    if (!(error instanceof DispatchRefusal)) return outer(error as FastifyError, request, reply);
    return reply.status(409).send({ code: error.code, message: error.message, requestId: request.id });
  });
}

/**
 * Calls about the agent itself, by connections that requests of people cannot occupy. Only lost runs, which may wait
 * for their environments, do not occupy these either.
 */
function agentCalls(app: FastifyInstance, context: Context): void {
  const reserved: Context = { ...context, db: context.reserved };
  app.post(pathOf('register'), { config: { takesSecret: true } }, async (request) => {
    const key = keys.get(request) as CallingKey;
    return registerAgent(onBehalfOf(context, key.agentKey, request), key, read.register(request.body));
  });
  app.post(pathOf('token'), { config: { takesSecret: true } }, async (request) =>
    exchangeSecret(context, keys.get(request) as CallingKey, request),
  );
  app.post(pathOf('heartbeat'), async (request) =>
    receiveHeartbeat(context, callerOf(request), read.heartbeat(request.body)),
  );
  app.post(pathOf('claim'), async (request, reply) => {
    const agent = callerOf(request);
    const { waitSeconds } = read.claim(request.body);
    return {
      job: await claimJob(
        reserved,
        agent,
        Math.min(waitSeconds, longestWaitSeconds),
        endOfWait(context, reply),
      ),
    };
  });
  app.post(pathOf('goodbye'), async (request) => {
    await receiveGoodbye(context, callerOf(request), read.goodbye(request.body));
    return {};
  });
}

/** A state with the attempt that it comes from. */
function stateOf(
  { job, attempt, environmentId }: AttemptInPlace,
  sent: Pick<ShippedState, 'follows' | 'sha256' | 'bytes' | 'isFinal'>,
): ShippedState {
  const deploymentId = job.deployment_id;
  return { environmentId, deploymentId, jobId: job.id, attempt: attempt.number, ...sent };
}

type AttemptCall = (place: AttemptInPlace, agent: CallingAgent, request: FastifyRequest) => Promise<unknown>;

/** Calls about one attempt, whose fence is in the message. */
function attemptCalls(app: FastifyInstance, context: Context): void {
  const inTurn = limitConcurrency();
  const messages: Record<'report' | 'mark' | 'finish', AttemptCall> = {
    report: (place, _agent, request) => receiveReport(context, place, read.report(request.body)),
    mark: async (place, _agent, request) => (await storeMark(context, place, read.mark(request.body)), {}),
    finish: (place, agent, request) =>
      inTurn(async () => {
        const message = request.body as FinishMessage;
        const { state } = message.rest;
        // On its own: a state is kept whatever becomes of the outcome.
        if (state) {
          const { follows, sha256, base64 } = state;
          const last = { follows, sha256, bytes: Buffer.from(base64, 'base64'), isFinal: true };
          await receiveState(onBehalfOf(context, agent.agent_key, request), stateOf(place, last));
        }
        return finishAttempt(context, agent, place, message);
      }),
  };
  for (const [name, call] of Object.entries(messages) as [keyof typeof messages, AttemptCall][]) {
    const { bytes = messageBytes } = limits[name] ?? {};
    app.post(
      pathOf(name),
      { bodyLimit: bytes, config: { message: name, isUpload: name in limits } },
      async (request) => {
        const agentCall = callOf(request);
        const { fence } = read.fence({ fence: (request.body as { fence?: unknown } | null)?.fence });
        // A finish that is sent again after its answer was lost still gets its answer.
        const place = attemptOfCall(agentCall, name === 'finish' ? null : fence);
        if (place.attempt.fence !== fence)
          throw new DispatchRefusal('fence_outdated', 'The fence does not match the attempt');
        return call(place, agentCall.agent, request);
      },
    );
  }
}

/** Calls with bytes: states and blobs. */
function byteCalls(app: FastifyInstance, context: Context): void {
  app.put(pathOf('putState'), { config: { isUpload: true } }, async (request) => {
    const agentCall = callOf(request);
    const place = attemptOfCall(agentCall, null);
    const { follows, sha256, moment } = read.state(request.query);
    const bytes = await readStateBody(context, request.body as AsyncIterable<Buffer>, request.headers);
    const state = stateOf(place, { follows, sha256, bytes, isFinal: moment === 'final' });
    return receiveState(onBehalfOf(context, agentCall.agent.agent_key, request), state);
  });
  app.get(pathOf('getState'), async (request, reply) => {
    const place = openAttemptOfCall(request);
    const current = await readCurrentState(context, place.environmentId);
    return current ? reply.type('application/octet-stream').send(current.content) : reply.status(204).send();
  });
  app.put(pathOf('putBlob'), { config: { isUpload: true } }, async (request) => {
    const place = attemptOfCall(callOf(request), fenceOf(request));
    const name = blobName(request);
    const content = request.body as Readable;
    // An outcome that is sent again after its answer was lost is preceded by its blobs, which are stored.
    if (place.attempt.status === 'ended') await finished(content.resume());
    else await putBlob(context, place, name, content, (request.query as { sha256?: string }).sha256);
    return {};
  });
  app.get(pathOf('getBlob'), async (request, reply) => {
    const place = openAttemptOfCall(request);
    return reply.type('application/octet-stream').send(await getBlob(context, place, blobName(request)));
  });
}

async function readMessage(request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
  const name = request.routeOptions.config.message ?? '';
  const { json = bodyJsonLimits } = limits[name] ?? {};
  const bytes = await readBytes(request, payload, json);
  try {
    return name === 'finish' ? await readFinish(bytes) : parseMessage(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('bad_request', `The message is not valid JSON: ${(error as Error).message}`);
  }
}

/** Registers the protocol below its own base path, apart from the public interface. */
export async function agentRoutes(app: FastifyInstance, context: Context): Promise<void> {
  await app.register(
    async (plugin) => {
      plugin.removeAllContentTypeParsers();
      plugin.addContentTypeParser('application/json', readMessage);
      plugin.addContentTypeParser('application/octet-stream', (_request, payload, done) =>
        done(null, payload),
      );
      admitAgents(plugin, context);
      plugin.setNotFoundHandler(async (request) => {
        throw new Refusal(
          'not_found',
          `The agent protocol has no ${request.method} ${request.url.split('?', 1)[0]}: update the service or the agent`,
        );
      });
      renderRefusals(plugin, context);
      agentCalls(plugin, context);
      attemptCalls(plugin, context);
      byteCalls(plugin, context);
    },
    { prefix: protocolBase },
  );
}
