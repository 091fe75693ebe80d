/** Counts calls that a known caller had no right to make, by caller and operation, for the audit trail. */
import type { FastifyRequest } from 'fastify';
import { storable } from '../../ground/database/storable.ts';
import { Refusal } from '../../ground/errors.ts';
import type { Actor } from '../access/actor.ts';
import { MissingRight } from '../access/check-right.ts';
import type { Context } from '../context.ts';
import { perServer } from '../events/per-server.ts';

const mostCounted = 10_000;
const mostEntities = 10;
/** Longer ones name nothing: they are arbitrary input, and fit in no index. */
const longestId = 255;

/** Action that was attempted. */
export interface Attempted {
  readonly actor: Actor;
  readonly operation: string;
  /** Organization whose audit trail has the refusal. Only if the caller is a member. */
  readonly organizationId?: string | null | undefined;
  /** Subject, if the request specifies it. */
  readonly entity?: string | undefined;
  readonly entityId?: string | undefined;
}

/** Refusals of one caller in one operation since the last summary. */
export interface RefusedCalls {
  readonly userId: string;
  /** Of the first of the calls, like the address and the key. */
  readonly organizationId: string | null;
  readonly address: string;
  readonly keyId: string | null;
  readonly operation: string;
  /** Of the first of the calls. */
  readonly requestId: string;
  readonly entity: string | null;
  /** At most ten. */
  readonly entityIds: Set<string>;
  count: number;
}

const countsOf = perServer(() => new Map<string, RefusedCalls>());

/** Organization of the trail if the request does not specify it. */
function onlyOrganizationOf({ access }: Actor): string | null {
  const [first = null, ...others] = access.organizationIds;
  return others.length === 0 ? first : null;
}

/** Counts and logs a call if the error is a 403. */
export function noteRefusedCall(
  context: Context,
  request: FastifyRequest,
  error: unknown,
  attempted: Attempted,
): void {
  if (!(error instanceof Refusal) || error.code !== 'forbidden') return;
  const place = error instanceof MissingRight ? error.place : null;
  countRefusedCall(context, request, { organizationId: place?.organizationId, ...attempted });
}

/** Counts and logs a call that the caller had no right to make, whatever the answer says. */
export function countRefusedCall(
  context: Context,
  request: FastifyRequest,
  { actor, operation, organizationId = onlyOrganizationOf(actor), entity, entityId }: Attempted,
): void {
  const { userId } = actor;
  request.log.warn(
    { userId, operation, entity, entityId },
    'call refused: the caller does not have the right',
  );
  const all = countsOf(context);
  const key = `${userId} ${operation} ${organizationId}`;
  const { keyId } = actor;
  const by = { userId, keyId, organizationId, address: request.ip, requestId: request.id };
  const fresh = { ...by, operation, entity: entity ?? null, count: 0 };
  const entry = all.get(key) ?? { ...fresh, entityIds: new Set<string>() };
  if (all.size >= mostCounted && !all.has(key)) return;
  all.set(key, entry);
  entry.count++;
  if (entityId !== undefined && entry.entityIds.size < mostEntities)
    entry.entityIds.add(storable(entityId.slice(0, longestId)));
}

/** Refusals since the last call. */
export function takeRefusedCalls(context: Pick<Context, 'events'>): RefusedCalls[] {
  const all = countsOf(context);
  const taken = [...all.values()];
  all.clear();
  return taken;
}
