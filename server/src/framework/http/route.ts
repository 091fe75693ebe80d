/** Binds one operation of the contract to its verb: checks, right, verb, reply. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { warningsOf } from '#contract/schema/no-effect.ts';
import type { BodyOf, Operation, ParamsOf, QueryOf, ReplyOf } from '#contract/schema/operation.ts';
import { hasTag, isRepeatable } from '#contract/schema/reader-of.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import type { Homes } from '../../rows/entity-home.ts';
import type { Place } from '../../rows/places.ts';
import { type Actor, actorWithoutRights } from '../access/actor.ts';
import {
  checkRight,
  isEmptyFor,
  isNamed,
  lookUpSubject,
  requireAnywhere,
  subjectOf,
  subjectsOf,
} from '../access/check-right.ts';
import type { ActorContext, Context } from '../context.ts';
import { authenticate, identify, ownAdmission } from './callers/authenticate.ts';
import { requireMatch, versionHeld } from './changes/entity-tag.ts';
import { idempotencyKeyOf, runIdempotently } from './changes/idempotent-requests.ts';
import { refuseIfMatch, type Versions, versionCheck } from './changes/if-match.ts';
import { parseBody } from './parse-body.ts';
import { fastifyPath } from './paths/known-methods.ts';
import { noteRefusedCall } from './refused-calls.ts';
import { compressedRoute } from './replies/compression.ts';
import { warn } from './replies/headers.ts';
import { JsonText } from './replies/json-text.ts';
import { joinLists, type PartCheckers, partCheckers, unknownParameters } from './request-parts.ts';

/** Input of a verb from a request. */
export interface Input<O extends Operation> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  /** Home of the subject of the right; null where the operation has none. */
  readonly home: Place | null;
}

type AnyOperationInput = Input<Operation>;

/** The raw reply, for a verb that sends it itself (a stream, bytes). */
export interface Wire {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /**
   * Identifies the caller and checks the right again, for replies that take long.
   * @throws Refusal where the key or the right is gone
   */
  checkAgain(): Promise<Actor>;
}

export type Verb<O extends Operation> = (
  context: ActorContext,
  input: Input<O>,
  wire: Wire,
) => Promise<ReplyOf<O> | JsonText<ReplyOf<O>>>;

/** Verbs by operation name, for the operations of one family. */
export interface Route {
  readonly operation: Operation;
  readonly verb: Verb<Operation>;
}

/** Pairs an operation with its verb, both checked against each other. */
export function route<O extends Operation>(operation: O, verb: Verb<O>): Route {
  return { operation, verb: verb as unknown as Verb<Operation> };
}

/** Pairs an operation that answers a stream or bytes with a verb that sends the reply itself. */
export function streamRoute<O extends Operation>(
  operation: O,
  verb: (context: ActorContext, input: Input<O>, wire: Wire) => Promise<unknown>,
): Route {
  return { operation, verb: verb as unknown as Verb<Operation> };
}

const anonymous = actorWithoutRights('anonymous');

/** @throws Refusal 400 that names the parameter */
function refuseNulOf(part: string, values: Readonly<Record<string, unknown>>): void {
  const found = Object.entries(values).find(([, value]) => String(value).includes('\0'));
  if (found)
    throw new Refusal('bad_request', `/${part}/${found[0]} has a NUL character, which no field can contain`);
}

/** An operation as it is served: with its verb, and what checks its requests. */
interface BoundRoute extends Route {
  readonly context: Context;
  readonly homes: Homes;
  readonly check: PartCheckers;
  readonly joinLists: ReturnType<typeof joinLists>;
  readonly checkVersion: ReturnType<typeof versionCheck>;
}

/** A request for an operation, as far as it is known. */
interface Call {
  actor: Actor;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  /** Checked; it names what some operations are about. */
  body: unknown;
  /** Undefined where only the body names what the right is about. */
  home: Place | null | undefined;
  /** When the right was checked, by the clock of `performance`. */
  checkedAt: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the caller of an operation is identified. */
    call: Call | null;
  }
}

/** A body that takes longer to arrive may come from a caller who has lost the right in the meantime. */
const promptMilliseconds = 1000;

/** Handles a part of a request; a refusal for a missing right is recorded. */
async function recordingRefusals<Result>(
  { context, operation }: BoundRoute,
  request: FastifyRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { call } = request;
    if (call) {
      const attempted = { actor: call.actor, operation: operation.name, ...subjectOf(operation, call) };
      noteRefusedCall(context, request, error, attempted);
    }
    throw error;
  }
}

/**
 * Identifies the caller and checks what the address says, and the right where the address names its subject.
 * @throws Refusal 401, 400 that names the parameter, 404 or 403 as `checkRight` does
 */
async function admit(bound: BoundRoute, wire: Pick<Wire, 'request' | 'reply'>): Promise<void> {
  const { context, homes, operation, check, joinLists } = bound;
  const { request } = wire;
  const params = request.params as Record<string, unknown>;
  const query = request.query as Record<string, unknown>;
  const parts = { params, query, body: undefined };
  const hasCredentials = request.headers.authorization !== undefined || request.headers.cookie !== undefined;
  // At the same time as the caller: PostgreSQL answers both in one turn.
  const lookup = { db: context.db, events: context.events, homes };
  const subject = hasCredentials ? lookUpSubject(lookup, operation, parts) : undefined;
  const actor = operation.needs === 'nothing' ? anonymous : await authenticate(context, request);
  const call: Call = { ...parts, actor, home: undefined, checkedAt: 0 };
  request.call = call;
  for (const [part, values] of Object.entries({ params, query })) refuseNulOf(part, values);
  joinLists(query);
  const unknown = unknownParameters(operation, query);
  if (unknown !== null) warn(wire, unknown);
  check.params(params);
  check.query(query);
  const isKnown = isNamed(operation, parts) || !operation.body;
  if (!isKnown) requireAnywhere(actor, operation);
  const isChecked = isKnown && !isEmptyFor(actor, operation);
  if (isChecked) call.home = await checkRight(lookup, actor, operation, parts, subject);
  call.checkedAt = performance.now();
}

const jsonType = 'application/json; charset=utf-8';

/** @throws Refusal 400 that names the field */
function checkedBody(
  { operation, check }: BoundRoute,
  { request, reply }: Pick<Wire, 'request' | 'reply'>,
): unknown {
  const body = parseBody(operation, request);
  const ignored = body === undefined ? [] : check.body(body);
  if (ignored.length > 0)
    reply.header('x-envarium-ignored-fields', ignored.map(encodeURIComponent).join(', '));
  return body;
}

function textOf(answer: unknown): string {
  return answer instanceof JsonText ? answer.text : JSON.stringify(answer ?? null);
}

/** Runs a request under the condition of its `If-Match`. */
function actOf({ operation, verb, checkVersion }: BoundRoute, wire: Wire, input: AnyOperationInput) {
  const act = async (context: ActorContext) => textOf(await verb(context, input, wire));
  const header = wire.request.headers['if-match'];
  if (header === undefined) return act;
  const check = checkVersion ?? refuseIfMatch(operation);
  return (context: ActorContext) =>
    inTransaction(context, async (context) => {
      await check(context, { header, params: input.params, body: input.body, wire });
      return act(context);
    });
}

/** Runs the verb and sends what it returns, repeated under the same `Idempotency-Key`. */
async function sendJson(bound: BoundRoute, wire: Wire, context: ActorContext, input: AnyOperationInput) {
  const { operation } = bound;
  const { request, reply } = wire;
  const act = actOf(bound, wire, input);
  const key = isRepeatable(operation) ? idempotencyKeyOf(request) : null;
  const warnings = [
    ...(operation.params ? warningsOf(operation.params, input.params) : []),
    ...(operation.body && input.body !== undefined ? warningsOf(operation.body, input.body) : []),
  ];
  const { answer, isReplayed } = key
    ? await runIdempotently(context, key, act)
    : { answer: await act(context), isReplayed: false };
  if (isReplayed) reply.header('idempotency-replayed', 'true');
  warn(wire, ...warnings);
  return reply.type(jsonType).send(answer);
}

/** Sends what is read, unless the caller has this version. */
async function sendRead({ verb }: BoundRoute, wire: Wire, context: ActorContext, input: AnyOperationInput) {
  const { request, reply } = wire;
  const answer = await verb(context, input, wire);
  const { bytes, tag } = answer instanceof JsonText ? answer : new JsonText(textOf(answer));
  if (request.headers['if-match'] !== undefined) requireMatch(request.headers['if-match'], tag);
  const held = versionHeld(request.headers['if-none-match'], tag);
  reply.header('etag', held ?? tag);
  if (held !== null) return reply.code(304).send();
  return reply.type(jsonType).send(bytes);
}

/**
 * The caller, and where the subject of the right lives: as known before the body, or checked again where the body was late.
 * @throws Refusal 401, 404 or 403 as `admit` does
 */
async function callerOf(
  { context, homes, operation }: BoundRoute,
  request: FastifyRequest,
  call: Call,
): Promise<{ readonly actor: Actor; readonly home: Place | null }> {
  const { home } = call;
  const isLate = operation.needs !== 'nothing' && performance.now() - call.checkedAt > promptMilliseconds;
  if (!isLate && home !== undefined) return { actor: call.actor, home };
  if (isLate) call.actor = await identify(context, request);
  const { actor } = call;
  return { actor, home: await checkRight({ ...context, homes }, actor, operation, call) };
}

async function serve(bound: BoundRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context, homes, operation, verb } = bound;
  const call = request.call as Call;
  if (isEmptyFor(call.actor, operation)) return reply.type(jsonType).send('[]');
  call.body = checkedBody(bound, { request, reply });
  const { params, query, body } = call;
  const checkAgain = async (): Promise<Actor> => {
    const still = await identify(context, request);
    await checkRight({ ...context, homes }, still, operation, call);
    return still;
  };
  const wire: Wire = { request, reply, checkAgain };
  const { actor, home } = await callerOf(bound, request, call);
  const log = request.log as Context['log'];
  const actorContext: ActorContext = { ...context, actor, requestId: request.id, address: request.ip, log };
  const input = { params, query, body, home } as AnyOperationInput;
  if (!operation.replyKind || operation.replyKind === 'json')
    return (operation.method === 'GET' ? sendRead : sendJson)(bound, wire, actorContext, input);
  // HEAD asks about the stream, not for it.
  if (operation.replyKind === 'event-stream' && request.method === 'HEAD')
    return reply.type('text/event-stream; charset=utf-8').send();
  await verb(actorContext, input, wire);
  return reply;
}

/** Reads that verbs use for entities of others. */
export function readersOf(routes: readonly Route[]): Versions['readers'] {
  return new Map(
    routes
      .filter(({ operation }) => hasTag(operation))
      .map(({ operation, verb }) => [
        operation.name,
        async (context, reading, wire) =>
          textOf(await verb(context, reading as unknown as AnyOperationInput, wire as Wire)),
      ]),
  );
}

/**
 * Registers an operation below `/api`.
 * @param versions among them the homes of every entity that an operation checks a right about
 * @throws Error if the entity of the operation is not one of them
 */
export function bindRoute(app: FastifyInstance, context: Context, versions: Versions, route: Route): void {
  const { operation } = route;
  const { homes } = versions;
  for (const { entity } of subjectsOf(operation))
    if (!homes.has(entity)) throw new Error(`No family has the entity "${entity}" of ${operation.name}`);
  const check = partCheckers(operation, context.settings.unknownFields);
  const checkVersion = versionCheck(versions, operation);
  const bound: BoundRoute = {
    ...route,
    context,
    homes,
    check,
    checkVersion,
    joinLists: joinLists(operation),
  };
  const url = `/api${fastifyPath(operation.path)}`;
  const register = (place: FastifyInstance) =>
    place.route({
      method: operation.method,
      url,
      ...(operation.bodyKind === 'binary' || operation.replyKind ? {} : compressedRoute),
      config: {
        ...ownAdmission,
        isUpload: operation.bodyKind === 'binary',
        isStream: operation.replyKind === 'event-stream',
      },
      ...(operation.body ? { bodyLimit: (operation.bodyMegabytes ?? 1) * 1024 * 1024 } : {}),
      onRequest: (request, reply) =>
        recordingRefusals(bound, request, () => admit(bound, { request, reply })),
      handler: (request, reply) => recordingRefusals(bound, request, () => serve(bound, request, reply)),
    });
  if (operation.bodyKind !== 'binary') register(app);
  else
    app.register(async (place) => {
      // The verb reads and limits the bytes itself.
      place.removeAllContentTypeParsers();
      place.addContentTypeParser('*', { bodyLimit: Number.MAX_SAFE_INTEGER }, (_request, payload, done) =>
        done(null, payload),
      );
      register(place);
    });
}
