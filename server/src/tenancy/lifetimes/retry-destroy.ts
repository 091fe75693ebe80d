/**
 * A destroy at the end of a lifetime that was refused, or did not end well, is tried again after growing pauses,
 * until the environment is destroyed or gets another lifetime. Pure.
 */
import type { Updateable } from 'kysely';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { EnvironmentTable } from '../../rows/schema.ts';

const firstPauseMinutes = 5;
const longestPauseMinutes = 12 * 60;
const minuteMilliseconds = 60_000;
/** Stored part of a reason: one sentence. */
const longestProblem = 1000;

/** The pause after an attempt: five minutes, then twice as long each time, at most twelve hours. @param attempts at least 1 */
function pauseMinutes(attempts: number): number {
  return Math.min(longestPauseMinutes, firstPauseMinutes * 2 ** (attempts - 1));
}

export type AttemptColumns = Required<
  Pick<Updateable<EnvironmentTable>, 'next_ttl_at' | 'ttl_attempts' | 'ttl_problem'>
>;

/** No attempt has failed. */
export const noAttempts = { ttl_attempts: 0, ttl_problem: null } as const;

/** The columns after an attempt that failed. @param problem why, as a sentence without a full stop */
export function afterAttempt(
  environment: Pick<EnvironmentRow, 'ttl_attempts'>,
  problem: string,
  now: Date,
): AttemptColumns {
  const attempts = environment.ttl_attempts + 1;
  return {
    next_ttl_at: new Date(now.getTime() + pauseMinutes(attempts) * minuteMilliseconds),
    ttl_attempts: attempts,
    ttl_problem: problem.slice(0, longestProblem).toWellFormed(),
  };
}

interface MovedDestroy {
  readonly id: string;
  readonly type: string;
}

/** Whether a deployment of an expired environment was the destroy that its end asks for, and did not succeed. */
export function isFailedEnd(
  environment: Pick<EnvironmentRow, 'lifespan_end_at' | 'is_archived'>,
  { type }: Pick<MovedDestroy, 'type'>,
  to: DeploymentStatus,
  now: Date,
): boolean {
  const { lifespan_end_at: end, is_archived: isArchived } = environment;
  if (type !== 'destroy' || !isTerminal(to) || to === 'SUCCESS') return false;
  return !isArchived && end !== null && end <= now;
}

/** The columns that follow from a status of a deployment of the environment; none for most of them. */
export function attemptColumns(
  environment: Pick<EnvironmentRow, 'lifespan_end_at' | 'is_archived' | 'ttl_attempts'>,
  deployment: MovedDestroy,
  to: DeploymentStatus,
  now: Date,
): Partial<AttemptColumns> {
  if (isFailedEnd(environment, deployment, to, now))
    return afterAttempt(environment, `the destroy ${deployment.id} ended as ${to}`, now);
  const isOver = deployment.type === 'destroy' && to === 'SUCCESS' && environment.ttl_attempts > 0;
  return isOver ? { ...noAttempts, next_ttl_at: null } : {};
}

/** Reason why an expired environment waits between two attempts; null for any other. */
export function waitingForAttempt(
  row: Pick<
    EnvironmentRow,
    'lifespan_end_at' | 'next_ttl_at' | 'ttl_attempts' | 'ttl_problem' | 'is_locked' | 'is_archived'
  >,
): WaitingFor | null {
  const { lifespan_end_at: end, next_ttl_at: next, ttl_attempts: attempts } = row;
  if (attempts === 0 || end === null || next === null || row.is_archived) return null;
  const since = end.toISOString();
  const tries = attempts === 1 ? 'once' : `${attempts} times`;
  const then = row.is_locked ? 'after the unlock' : `at ${next.toISOString()}`;
  const text = `Its lifetime ended at ${since}, and it could not be destroyed (tried ${tries}): ${row.ttl_problem ?? 'unknown reason'}. It is tried again ${then}`;
  return { kind: 'retry', since, text };
}
