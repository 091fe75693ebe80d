/** A page of the environments that the caller may see. */
import type { EnvironmentSortKey } from '#contract/environments/list-query.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { operations } from '#contract/operations.ts';
import type { DriftStatus, EnvironmentStatus, TemplateType } from '#contract/schema/enumerations.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type JsonText, jsonList } from '../../framework/http/replies/json-text.ts';
import { excludeFields } from '../../framework/http/replies/pick-fields.ts';
import { unknownEntity } from '../../ground/errors.ts';
import {
  type LargeColumn,
  largeColumns,
  startersAmong,
} from '../../rows/deployments/shown-deployment-store.ts';
import {
  type EnvironmentFilter,
  listEnvironmentPage,
  type SortedPage,
} from '../../rows/environments/listed-environment-store.ts';
import { membersAmong } from '../../rows/organizations/membership-store.ts';
import { projectsNamedLike } from '../../rows/projects/project-store.ts';
import { getTemplateRow } from '../../rows/templates/template-store.ts';
import { environmentTexts } from './environment-texts.ts';
import { visibleReach } from './visible-reach.ts';

const largestPage = 100;

type EnvironmentsQuery = QueryOf<typeof operations.listEnvironments>;

/** Large fields that were not requested are not read. */
function unreadColumns(excludeFields: string | undefined): LargeColumn[] {
  const excluded = (excludeFields ?? '').split(',').map((path) => path.trim());
  return largeColumns.filter(
    (column) =>
      excluded.includes(`latestDeploymentLog.${column}`) || excluded.includes('latestDeploymentLog'),
  );
}

/** Without the fields that the query excludes. */
function shownPart(text: string, excluded: string | undefined): string {
  return excluded ? JSON.stringify(excludeFields(parseExactly(text) as Environment, excluded)) : text;
}

/** Filters of the query on the state of environments. The words of the lists were checked. */
function stateFilter({ status, driftStatus, templateType, expiresBefore, finishedAfter }: EnvironmentsQuery) {
  return {
    statuses: status?.split(',') as EnvironmentStatus[] | undefined,
    driftStatuses: driftStatus?.split(',') as DriftStatus[] | undefined,
    templateTypes: templateType?.split(',') as TemplateType[] | undefined,
    expiresBefore: expiresBefore === undefined ? undefined : new Date(expiresBefore),
    finishedAfter: finishedAfter === undefined ? undefined : new Date(finishedAfter),
  };
}

/** @throws Refusal 400 for a template that is unknown where the caller is a member */
async function templateIdOf(
  { db, actor }: ActorContext,
  { blueprintId }: EnvironmentsQuery,
): Promise<string | undefined> {
  if (blueprintId === undefined) return undefined;
  const template = await getTemplateRow(db, blueprintId);
  if (!template || !actor.access.isMember(template.organization_id))
    throw unknownEntity('query.blueprintId', 'template');
  return blueprintId;
}

/** @throws Refusal 400 for a user who is unknown where the caller is a member */
async function deployersOf(
  { db, actor }: ActorContext,
  { deployerUserIds }: EnvironmentsQuery,
): Promise<string[] | undefined> {
  if (deployerUserIds === undefined) return undefined;
  const ids = deployerUserIds.split(',');
  const { organizationIds } = actor.access;
  const members = await membersAmong(db, organizationIds, ids);
  const others = ids.filter((id) => !members.includes(id));
  // Former members may have deployed, too.
  const starters = others.length === 0 ? [] : await startersAmong(db, organizationIds, others);
  if (others.some((id) => !starters.includes(id))) throw unknownEntity('query.deployerUserIds', 'user');
  return ids;
}

function sortOf({ sort = '-createdAt' }: EnvironmentsQuery): SortedPage['sort'] {
  const isDescending = sort.startsWith('-');
  const key = (isDescending ? sort.slice(1) : sort) as EnvironmentSortKey;
  return { key, direction: isDescending ? 'desc' : 'asc' };
}

/** @returns the page as JSON */
export async function listEnvironments(
  context: ActorContext,
  query: EnvironmentsQuery,
): Promise<{ environments: JsonText<Environment[]>; total: number }> {
  const reach = await visibleReach(context, query);
  const { searchText: text } = query;
  const filter: EnvironmentFilter = {
    reach,
    projectId: query.projectId,
    createdBy: query.onlyMy ? context.actor.userId : undefined,
    isActive: query.isActive,
    name: query.name,
    isRemoteBackend: query.isRemoteBackend,
    workspaceName: query.workspaceName,
    workspaceNamePrefix: query.workspaceNamePrefix,
    includeSubEnvironments: query.includeSubEnvironments,
    search: text ? { text, projectIds: await projectsNamedLike(context.db, reach, text) } : undefined,
    tag: query.tag,
    tags: query.tags?.split(','),
    isDestroyed: query.isDestroyed,
    deployerIds: await deployersOf(context, query),
    templateId: await templateIdOf(context, query),
    ...stateFilter(query),
  };
  const page = { limit: query.limit ?? largestPage, offset: query.offset ?? 0, sort: sortOf(query) };
  const { rows, total } = await listEnvironmentPage(context.db, filter, page);
  const unread = unreadColumns(query.excludeFields);
  const texts = await environmentTexts(context, rows, unread);
  return { environments: jsonList(texts.map((text) => shownPart(text, query.excludeFields))), total };
}
