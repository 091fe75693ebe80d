/** The list of environments as its address says it, and as the request has it. */

import type { operations } from '#contract/operations.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { Search } from '../../../ui/search.ts';

export type EnvironmentQuery = QueryOf<typeof operations.listEnvironments>;

export const pageSize = 100;

/** Lists leave out what only the pages of an environment and a deployment show. */
export const leftOut = [
  'resources',
  ...['plan', 'output', 'variables', 'resources', 'moduleVersions', 'providerVersions', 'workflowFile'].map(
    (field) => `latestDeploymentLog.${field}`,
  ),
].join(',');

/** Content of the list's address. */
export const filterKeys = [
  'search',
  'project',
  'status',
  'drift',
  'type',
  'tag',
  'mine',
  'archived',
  'expires',
  'sort',
] as const;
export type FilterKey = (typeof filterKeys)[number];

/** The part of an address that a saved view keeps: all but the page. */
export function filtersOf(search: Search): Partial<Record<FilterKey, string>> {
  return Object.fromEntries(filterKeys.flatMap((key) => (search[key] ? [[key, search[key]]] : [])));
}

/** @returns from 1 on, whatever the address says */
export function pageNumber(search: Search): number {
  const page = Number(search.page ?? 1);
  return Number.isSafeInteger(page) && page > 0 ? page : 1;
}

/** A whole hour, so that the same request is sent within it. */
function hoursFromNow(hours: number, now: number): string {
  return new Date(Math.ceil(now / 3_600_000 + hours) * 3_600_000).toISOString();
}

const expiries: Readonly<Record<string, number>> = { day: 24, 'three-days': 72, week: 168 };

/**
 * @param now milliseconds since 1970
 * @param page from 1 on
 */
export function queryOf(
  organizationId: string,
  search: Search,
  now: number,
  page = pageNumber(search),
): EnvironmentQuery {
  const hours = expiries[search.expires ?? ''];
  const query: Record<string, unknown> = {
    organizationId,
    limit: pageSize,
    offset: (page - 1) * pageSize,
    excludeFields: leftOut,
    ...(search.archived === 'all' ? {} : { isActive: search.archived !== 'only' }),
    ...(search.mine === 'yes' ? { onlyMy: true } : {}),
    ...(search.search ? { searchText: search.search } : {}),
    ...(search.project ? { projectId: search.project } : {}),
    ...(search.status ? { status: search.status } : {}),
    ...(search.drift ? { driftStatus: search.drift } : {}),
    ...(search.type ? { templateType: search.type } : {}),
    ...(search.tag ? { tag: search.tag } : {}),
    ...(search.sort ? { sort: search.sort } : {}),
    ...(hours === undefined ? {} : { expiresBefore: hoursFromNow(hours, now) }),
  };
  return query as EnvironmentQuery;
}

/**
 * The same list on the command line, as far as it has the filters.
 * @returns words of the command
 */
export function wordsOf(search: Search): string[] {
  const valued = (['search', 'project', 'tag', 'status', 'drift', 'type', 'sort'] as const).flatMap((key) =>
    search[key] ? [`--${key}`, search[key]] : [],
  );
  return [
    'environment',
    'list',
    ...valued,
    ...(search.mine === 'yes' ? ['--mine'] : []),
    ...(search.archived === 'only' ? ['--archived'] : []),
  ];
}
