/**
 * When an environment expires, and the notices before that. Pure but for the policy that `ttlColumns` reads.
 */
import type { Selectable, Updateable } from 'kysely';
import type { Ttl } from '#contract/deployments/deploy-request.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import { getOrganizationRow } from '../../rows/organizations/organization-store.ts';
import type { Place } from '../../rows/places.ts';
import type { EnvironmentTable } from '../../rows/schema.ts';
import { isBeyondDates, ttlEnd } from './policy-ttl.ts';
import { noAttempts } from './retry-destroy.ts';

const isoForm = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Node reads many other texts as dates too, and days that a month does not have as days of the next. */
function isoDate(text: string): Date {
  const day = isoForm.exec(text)?.[1];
  const midnight = new Date(`${day}T00:00:00Z`);
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(`${day}T`);
  return exists ? new Date(text) : new Date(Number.NaN);
}

function hoursFrom(now: Date, text: string): Date {
  const hours = /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
  return new Date(now.getTime() + hours * 3_600_000);
}

/**
 * @param now from when hours count
 * @param field location of the ttl in the request
 * @returns the end, or null for an unlimited lifetime
 * @throws Refusal 400 for a value that does not fit the type, or that has passed
 */
function lifespanEnd(ttl: Ttl | undefined, now: Date, field = 'body.ttl'): Date | null {
  if (!ttl || ttl.type === 'INFINITE') return null;
  const end = ttl.type === 'HOURS' ? hoursFrom(now, ttl.value ?? '') : isoDate(ttl.value ?? '');
  if (Number.isNaN(end.getTime()))
    throw badField(
      `${field}.value`,
      ttl.type === 'HOURS'
        ? 'must be a whole number of hours'
        : 'must be a date in ISO 8601, such as 2030-01-31T12:00:00.000Z',
    );
  if (end <= now) throw badField(`${field}.value`, 'has passed already');
  if (isBeyondDates(end)) throw badField(`${field}.value`, 'ends after the year 9999: send INFINITE');
  return end;
}

/** Word of a policy for the lifetime of its organization. */
const inherit = 'inherit';

const minuteMilliseconds = 60_000;
/**
 * Time before the end at which each notice is sent; its place in the list is what `markedForAutoDestroy` shows
 * after it.
 */
const noticeMinutes = [2 * 24 * 60, 2 * 60, 30] as const;
export const lastNoticeMilliseconds = noticeMinutes[2] * minuteMilliseconds;

/** The notices that are due. */
export function noticesDue(end: Date, now: Date): 0 | 1 | 2 | 3 {
  const due = noticeMinutes.filter(
    (minutes) => end.getTime() - minutes * minuteMilliseconds <= now.getTime(),
  );
  return due.length as 0 | 1 | 2 | 3;
}

/**
 * When the next notice or, after the last, the destroy is due; a notice whose time had passed before is left
 * out.
 */
export function nextTtlStep(end: Date, now: Date): Date {
  const coming = noticeMinutes
    .map((minutes) => end.getTime() - minutes * minuteMilliseconds)
    .find((time) => time > now.getTime());
  return coming === undefined ? end : new Date(coming);
}

/** The notices that are sent from a time on, each with what `markedForAutoDestroy` says after it. */
export function noticesFrom(end: Date, from: Date): { readonly at: Date; readonly number: number }[] {
  return noticeMinutes
    .map((minutes, index) => ({
      at: new Date(end.getTime() - minutes * minuteMilliseconds),
      number: index + 1,
    }))
    .filter(({ at }) => at >= from);
}

export interface LongestLife {
  readonly maxTtl: string | null;
  /** Owner of the policy. */
  readonly source?: 'project' | 'organization';
  /** The start of the maximum lifetime. */
  readonly createdAt: Date;
  readonly mayOverride: boolean;
}

/** @throws Refusal 400 for an end after the maximum lifetime, unless the caller may override it */
function checkLongestLife(
  end: Date | null,
  { maxTtl, source = 'organization', createdAt, mayOverride }: LongestLife,
  field: string,
): void {
  if (maxTtl === null || mayOverride) return;
  const last = ttlEnd(maxTtl, createdAt);
  const rule = `${maxTtl} (maxTtl of the ${source}'s policy)`;
  if (end === null)
    throw badField(
      field,
      `must not be INFINITE: the maximum lifetime here is ${rule}, until ${last.toISOString()}`,
    );
  if (end > last)
    throw badField(
      field,
      `ends at ${end.toISOString()}, after the maximum lifetime of ${rule}: it may end at ${last.toISOString()} at the latest`,
    );
}

type TtlColumns = Required<
  Pick<
    Updateable<EnvironmentTable>,
    | 'ttl'
    | 'ttl_set_by'
    | 'lifespan_end_at'
    | 'next_ttl_at'
    | 'marked_for_auto_destroy'
    | 'ttl_attempts'
    | 'ttl_problem'
  >
>;

/** The columns for an end. @param setBy id of the user who chose it; null: no one */
export function lifespanColumns(
  ttl: Ttl | null,
  end: Date | null,
  now: Date,
  setBy: string | null = null,
): TtlColumns {
  return {
    ttl: ttl ? JSON.stringify(ttl) : null,
    ttl_set_by: setBy,
    lifespan_end_at: end,
    next_ttl_at: end && nextTtlStep(end, now),
    marked_for_auto_destroy: 0,
    ...noAttempts,
  };
}

/** Why the service does not deploy an environment: it has expired, and nothing would destroy it again. null: it has not. */
export function refusalOfExpired(
  { lifespan_end_at: end }: Pick<Selectable<EnvironmentTable>, 'lifespan_end_at'>,
  now: Date,
): string | null {
  if (end === null || end > now) return null;
  return `The environment expired at ${end.toISOString()}: it needs another lifetime first`;
}

/** The lifetimes that hold in a project. */
interface Lifetimes extends Pick<LongestLife, 'maxTtl' | 'source'> {
  readonly defaultTtl: string | null;
}

/** A project whose policy says `inherit` has what the policy of its organization says. */
async function lifetimesOf(
  db: Connection,
  { organizationId }: Place,
  policy: TtlHome['policy'],
): Promise<Lifetimes> {
  // Environments that cannot be destroyed do not expire.
  if (policy.disableDestroyEnvironments) return { maxTtl: null, defaultTtl: null };
  const { maxTtl, defaultTtl } = policy;
  if (maxTtl !== inherit && defaultTtl !== inherit) return { maxTtl, defaultTtl, source: 'project' };
  const organization = await getOrganizationRow(db, organizationId);
  if (!organization) throw new Error(`Organization ${organizationId} was not found`);
  const { max_ttl, default_ttl } = organization;
  return { maxTtl: max_ttl, defaultTtl: default_ttl, source: 'organization' };
}

/** The environment whose lifetime is set, and the policy of its project. */
export interface TtlHome {
  readonly place: Place;
  readonly createdAt: Date;
  readonly policy: {
    readonly maxTtl: string | null;
    readonly defaultTtl: string | null;
    readonly disableDestroyEnvironments: boolean;
  };
  /** Id of the user who chose the lifetime; absent: the caller. */
  readonly setBy?: string;
}

/**
 * The columns that a ttl of a request sets.
 * @param ttl absent: the default for new environments
 * @throws Refusal 400 that names the field
 */
export async function ttlColumns(
  context: ActorContext,
  ttl: Ttl | undefined,
  { place, createdAt, policy, setBy = context.actor.userId }: TtlHome,
  field: string,
): Promise<TtlColumns> {
  const now = context.now();
  const end = lifespanEnd(ttl, now, field);
  if (end !== null && policy.disableDestroyEnvironments)
    throw badField(
      field,
      'must be INFINITE or absent: the policy of the project lets no one destroy its environments (disableDestroyEnvironments)',
    );
  const { defaultTtl, ...longest } = await lifetimesOf(context.db, place, policy);
  if (!ttl) {
    const byDefault = defaultTtl ?? longest.maxTtl;
    return lifespanColumns(null, byDefault === null ? null : ttlEnd(byDefault, createdAt), now);
  }
  const mayOverride = context.actor.access.has('OVERRIDE_MAX_TTL', place);
  checkLongestLife(end, { ...longest, createdAt, mayOverride }, field);
  return lifespanColumns(ttl, end, now, end === null ? null : setBy);
}
