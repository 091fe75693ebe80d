/** A page of the environments that the caller may see. */
import type { Environment } from '#contract/environments/shapes.ts';
import type { operations } from '#contract/operations.ts';
import type { QueryOf } from '#contract/operation.ts';
import { roleHas } from '../access/role-rights.ts';
import type { ActorContext } from '../context.ts';
import { unknownEntity } from '../http/errors.ts';
import { type JsonText, jsonList } from '../http/json-text.ts';
import { excludeFields } from '../http/pick-fields.ts';
import { organizationHome } from '../organizations/organization-store.ts';
import { projectHome, projectsNamedLike } from '../projects/project-store.ts';
import { type EnvironmentFilter, listEnvironmentPage } from './listed-environment-store.ts';
import { type LargeColumn, largeColumns } from '../deployments/shown-deployment-store.ts';
import { environmentTexts } from './environment-texts.ts';

const largestPage = 100;

type Query = QueryOf<typeof operations.listEnvironments>;

/** Organizations in which the caller may see environments, filtered by the query. */
async function visibleOrganizations(context: ActorContext, query: Query): Promise<string[]> {
  const visible = [...context.actor.roles]
    .filter(([, role]) => roleHas(role, 'VIEW_ENVIRONMENT'))
    .map(([id]) => id);
  let wanted = visible;
  for (const [entity, findHome] of [
    ['organization', organizationHome],
    ['project', projectHome],
  ] as const) {
    const id = query[`${entity}Id`];
    if (id === undefined || visible.length === 0) continue;

    const isKnown = entity === 'organization' && visible.includes(id);
    const home = isKnown ? { organizationId: id } : await findHome(context.db, id);
    if (!home || !visible.includes(home.organizationId)) throw unknownEntity(`query.${entity}Id`, entity);
    wanted = wanted.filter((each) => each === home.organizationId);
  }
  return wanted;
}

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
  return excluded ? JSON.stringify(excludeFields(JSON.parse(text) as Environment, excluded)) : text;
}

/** @returns the page as JSON */
export async function listEnvironments(
  context: ActorContext,
  query: Query,
): Promise<{ environments: JsonText<Environment[]>; total: number }> {
  const organizationIds = await visibleOrganizations(context, query);
  const { searchText: text } = query;
  const filter: EnvironmentFilter = {
    organizationIds,
    projectId: query.projectId,
    createdBy: query.onlyMy ? context.actor.userId : undefined,
    isActive: query.isActive,
    name: query.name,
    isRemoteBackend: query.isRemoteBackend,
    workspaceName: query.workspaceName,
    workspaceNamePrefix: query.workspaceNamePrefix,
    includeSubEnvironments: query.includeSubEnvironments,
    search: text
      ? { text, projectIds: await projectsNamedLike(context.db, organizationIds, text) }
      : undefined,
    tag: query.tag,
  };
  const page = { limit: query.limit ?? largestPage, offset: query.offset ?? 0 };
  const { rows, total } = await listEnvironmentPage(context.db, filter, page);
  const unread = unreadColumns(query.excludeFields);
  const texts = await environmentTexts(context, rows, unread);
  return { environments: jsonList(texts.map((text) => shownPart(text, query.excludeFields))), total };
}
