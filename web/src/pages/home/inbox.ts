/** Requests of the inbox to the service. */

import { useQueries } from '@tanstack/react-query';
import type { Environment } from '#contract/environments/shapes.ts';
import { type ListPage, read, usePage, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { type EnvironmentQuery, leftOut } from '../environments/list/list-query.ts';

/** Rows of a section; the list of environments has the others. */
const sectionRows = 25;
const soonDays = 3;

type InboxQuery = Pick<
  EnvironmentQuery,
  'status' | 'driftStatus' | 'sort' | 'expiresBefore' | 'finishedAfter'
>;

export interface SectionRead {
  readonly data: ListPage<Environment[]> | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

function useSection(organizationId: string, question: InboxQuery): SectionRead {
  return usePage('listEnvironments', {
    query: { organizationId, isActive: true, limit: sectionRows, excludeFields: leftOut, ...question },
  }) as SectionRead;
}

/**
 * The environments whose plan this person may approve; null: not known yet.
 * @param environments undefined: they are not read yet
 */
function useApprovable(
  organizationId: string,
  environments: readonly Environment[] | undefined,
): ReadonlySet<string> | null {
  const everywhere = useRights({ organizationId });
  const mayAll = everywhere.has('RUN_APPLY');
  const unclear = mayAll || !everywhere.isKnown ? [] : (environments ?? []);
  const answers = useQueries({
    queries: unclear.map(({ id }) => ({
      ...read('explainPermissions', { query: { environmentId: id } }),
      staleTime: 60_000,
    })),
  });
  if (!everywhere.isKnown || environments === undefined) return null;
  if (mayAll) return new Set(environments.map(({ id }) => id));
  if (answers.some(({ isPending }) => isPending)) return null;
  return new Set(
    environments
      .filter((_, at) => answers[at]?.data?.rights.some(({ right }) => right === 'RUN_APPLY'))
      .map(({ id }) => id),
  );
}

/** A whole hour, so that the same request is sent within it. */
function soon(hour: number): string {
  return new Date((hour + soonDays * 24) * 3_600_000).toISOString();
}

/**
 * Everything that the inbox shows.
 * @param since what failed after it is new, in milliseconds since 1970
 * @param hour now, in hours since 1970
 */
export function useInbox(organizationId: string, since: number, hour: number) {
  const waiting = useSection(organizationId, { status: 'WAITING_FOR_USER', sort: 'updatedAt' });
  const failed = useSection(organizationId, {
    status: 'FAILED,TIMEOUT',
    finishedAfter: new Date(since).toISOString(),
    sort: '-updatedAt',
  });
  const drifted = useSection(organizationId, { driftStatus: 'DRIFTED,ERROR', sort: '-updatedAt' });
  const expiring = useSection(organizationId, { expiresBefore: soon(hour), sort: 'lifespanEndAt' });
  const agents = useRead('listAgents', { query: { organizationId } });
  const approvable = useApprovable(
    organizationId,
    waiting.error ? (waiting.data?.rows ?? []) : waiting.data?.rows,
  );
  return { waiting, failed, drifted, expiring, agents, approvable };
}

export type Inbox = ReturnType<typeof useInbox>;
export type AgentsRead = Pick<Inbox['agents'], 'data' | 'error' | 'refetch'>;
