/**
 * The http state protocol of terraform and OpenTofu, for work outside of runs: GET, POST and DELETE of a
 * state, LOCK and UNLOCK. Its answers follow the tools and not the interface: 204 for "no state yet", 423
 * with the lock that is held.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Right } from '#contract/schema/enumerations.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { stateProtocolBase } from '#contract/state/operations.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { authenticate, ownAdmission } from '../../framework/http/callers/authenticate.ts';
import { countRefusedCall, noteRefusedCall } from '../../framework/http/refused-calls.ts';
import { conflict, notFound, Refusal } from '../../ground/errors.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { type EnvironmentRow, getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { readStateBody } from './import-state.ts';
import { lockInfoOf, lockState, unlockState } from './lock-state.ts';
import { readCurrentState } from './read-current-state.ts';
import { mayReadState } from './state-access.ts';
import type { StateHolder } from './state-holder.ts';
import { checkMd5, deleteState, writeState } from './write-state.ts';

interface StateRequest {
  readonly context: ActorContext;
  readonly environment: EnvironmentRow;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type StateHandler = (stateRequest: StateRequest) => Promise<unknown>;

async function findEnvironment(context: ActorContext, id: string): Promise<EnvironmentRow | undefined> {
  const environment = await getEnvironmentRow(context.db, id);
  return environment && context.actor.access.isMember(environment.organization_id) ? environment : undefined;
}

function lockedBy({ reply }: StateRequest, holder: StateHolder): FastifyReply {
  return reply.status(423).send(lockInfoOf(holder));
}

async function read(stateRequest: StateRequest): Promise<unknown> {
  const { context, environment, reply } = stateRequest;
  if (!(await mayReadState(context.db, context.actor, environment)))
    throw new Refusal('forbidden', 'This needs the right READ_STATE');
  const current = await readCurrentState(context, environment.id);
  if (!current) return reply.status(204).send();
  await recordEnvironmentAudit(context, environment, 'state.read', {
    stateVersionId: environment.current_state_version_id,
  });
  // Passed on as it is read. Tools do without Content-MD5, and notice a reply that is shorter than it says.
  return reply
    .type('application/json')
    .header('content-length', current.bytes)
    .header('x-content-type-options', 'nosniff')
    .send(current.content);
}

async function write(stateRequest: StateRequest): Promise<unknown> {
  const { context, environment, request } = stateRequest;
  const bytes = await readStateBody(
    context,
    request.body as AsyncIterable<Buffer> | undefined,
    request.headers,
  );
  await checkMd5(bytes, request.headers['content-md5'] as string | undefined);
  const lockId = checkedLockId((request.query as { ID?: unknown }).ID, '/query/ID');
  const end = await writeState(context, environment.id, bytes, lockId);
  if (end.kind === 'held') return lockedBy(stateRequest, end.holder);
  if (end.kind === 'stored') return { id: end.version.id, serial: end.version.serial };
  throw conflict(
    `The lock ${lockId} is no longer held: someone has released it. The state was not made current; it is kept as the rescued version ${end.version.id}: compare it, then promote it`,
  );
}

async function remove(stateRequest: StateRequest): Promise<unknown> {
  const holder = await deleteState(stateRequest.context, stateRequest.environment.id);
  return holder ? lockedBy(stateRequest, holder) : { id: stateRequest.environment.id };
}

/** A lock info is a few hundred bytes. */
const lockInfoBytes = 64 * 1024;

async function readLockInfo({ request }: StateRequest): Promise<Record<string, unknown> | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of (request.body ?? []) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > lockInfoBytes)
      throw new Refusal('payload_too_large', `/body is larger than the ${lockInfoBytes} bytes of a lock`);
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString('utf8');
  if (text.trim() === '' || text.trim() === 'null') return null;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The same as any other text that is not an object.
  }
  throw new Refusal('bad_request', '/body must be the lock as a JSON object with an ID');
}

const longestLockId = 255;

/** @returns undefined where none was sent */
function checkedLockId(id: unknown, field: string): string | undefined {
  if (id === undefined || id === '') return undefined;
  if (typeof id !== 'string' || id.length > longestLockId || id.includes('\0') || !id.isWellFormed())
    throw new Refusal('bad_request', `${field} must be a string of at most ${longestLockId} characters`);
  return id;
}

function lockIdOf(info: Record<string, unknown> | null): string | undefined {
  return checkedLockId(info?.['ID'], '/body/ID');
}

/** Stored parts of a lock: only texts, as long as a line of a list. */
function knownInfo(info: Record<string, unknown>): Record<string, string> {
  const names = ['ID', 'Operation', 'Info', 'Who', 'Version', 'Created', 'Path'];
  const texts = names.flatMap((name) =>
    typeof info[name] === 'string' ? [[name, info[name]] as const] : [],
  );
  return Object.fromEntries(
    texts.map(([name, value]) => [name, value.replaceAll('\0', '').slice(0, 1000).toWellFormed()]),
  );
}

async function lock(stateRequest: StateRequest): Promise<unknown> {
  const info = await readLockInfo(stateRequest);
  const id = lockIdOf(info);
  if (info === null || id === undefined)
    throw new Refusal('bad_request', '/body/ID is required: the id of the lock');
  const holder = await lockState(stateRequest.context, stateRequest.environment.id, {
    ...knownInfo(info),
    ID: id,
  });
  return holder ? lockedBy(stateRequest, holder) : info;
}

async function unlock(stateRequest: StateRequest): Promise<unknown> {
  const info = await readLockInfo(stateRequest);
  await unlockState(stateRequest.context, stateRequest.environment.id, lockIdOf(info));
  return info ?? {};
}

/** Every route, as the contract lists them. */
const calls: readonly { method: string; path: string; needs: Right | null; handle: StateHandler }[] = [
  { method: 'GET', path: '/:id', needs: null, handle: read },
  { method: 'POST', path: '/:id', needs: 'WRITE_STATE', handle: write },
  { method: 'DELETE', path: '/:id', needs: 'WRITE_STATE', handle: remove },
  { method: 'LOCK', path: '/:id', needs: 'WRITE_STATE', handle: lock },
  { method: 'UNLOCK', path: '/:id', needs: 'WRITE_STATE', handle: unlock },
  { method: 'PUT', path: '/:id/lock', needs: 'WRITE_STATE', handle: lock },
  { method: 'POST', path: '/:id/lock', needs: 'WRITE_STATE', handle: lock },
  { method: 'DELETE', path: '/:id/lock', needs: 'WRITE_STATE', handle: unlock },
];

/** To a tool that reads, 404 means "no state yet": it would start over where only the address is wrong. */
function unknownEnvironment(method: string, id: string): Refusal {
  const text = `No environment with id "${id}" was found`;
  return method === 'GET' || method === 'HEAD'
    ? new Refusal('forbidden', `${text} that you may read`)
    : notFound('environment', id);
}

const operationOf = ({ method }: FastifyRequest) => `state protocol ${method}`;

async function prepare(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  needs: Right | null,
): Promise<StateRequest> {
  const actor = await authenticate(context, request);
  const { id } = request.params as { id: string };
  const actorContext: ActorContext = {
    ...context,
    actor,
    requestId: request.id,
    address: request.ip,
    log: request.log as Context['log'],
  };
  const environment = await findEnvironment(actorContext, id);
  if (!environment) {
    // It may exist in another organization: a caller who tries ids gets the same answer, and is recorded.
    countRefusedCall(context, request, {
      actor,
      operation: operationOf(request),
      entity: 'environment',
      entityId: isUuid(id) ? id : undefined,
    });
    throw unknownEnvironment(request.method, id);
  }
  const stateRequest = { context: actorContext, environment, request, reply };
  return noting(stateRequest, async () => {
    if (needs !== null && !actor.access.has(needs, inEnvironment(environment)))
      throw new Refusal('forbidden', `This needs the right ${needs}`);
    return stateRequest;
  });
}

/** Requests without the right are recorded in the audit trail. */
async function noting<Result>(stateRequest: StateRequest, work: () => Promise<Result>): Promise<Result> {
  const { context, environment, request } = stateRequest;
  try {
    return await work();
  } catch (error) {
    noteRefusedCall(context, request, error, {
      actor: context.actor,
      operation: operationOf(request),
      organizationId: environment.organization_id,
      entity: 'environment',
      entityId: environment.id,
    });
    throw error;
  }
}

/** Registers the protocol below its own base path, apart from the interface. */
export async function stateProtocolRoutes(app: FastifyInstance, context: Context): Promise<void> {
  for (const method of ['LOCK', 'UNLOCK']) app.addHttpMethod(method, { hasBody: true });
  await app.register(
    async (plugin) => {
      plugin.removeAllContentTypeParsers();
      // Each call reads and limits its bytes itself.
      plugin.addContentTypeParser('*', { bodyLimit: Number.MAX_SAFE_INTEGER }, (_request, payload, done) =>
        done(null, payload),
      );
      const prepared = new WeakMap<FastifyRequest, StateRequest>();
      for (const { method, path, needs, handle } of calls) {
        plugin.route({
          method,
          url: path,
          config: { ...ownAdmission, isUpload: true },
          onRequest: async (request, reply) =>
            void prepared.set(request, await prepare(context, request, reply, needs)),
          handler: async (request) => {
            const stateRequest = prepared.get(request) as StateRequest;
            return noting(stateRequest, () => handle(stateRequest));
          },
        });
      }
    },
    { prefix: stateProtocolBase },
  );
}
