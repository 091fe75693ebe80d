/** Operations of MCP servers, on top of the families that they are about. */
import { mcpOmittedFields } from '#contract/mcp/operations.ts';
import { type McpDeploymentList, type McpListedDeployment, mcpListedFields } from '#contract/mcp/shapes.ts';
import { operations } from '#contract/operations.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { pickFields } from '../../framework/http/replies/pick-fields.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import { largeColumns, listDeploymentPage } from '../../rows/deployments/shown-deployment-store.ts';
import { getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { deployEnvironment } from '../../runs/deployments/deploy-environment.ts';
import { deploymentTexts, peopleOf } from '../../runs/deployments/views/deployment-view.ts';
import { environmentView } from '../../runs/environments/environment-view.ts';
import { listEnvironments } from '../../runs/environments/list-environments.ts';
import { listProjects } from '../../tenancy/projects/list-projects.ts';
import { abortLatest, approveLatest, cancelLatest } from './act-on-latest.ts';
import { analyzeError, deploymentWithLog, planLog } from './mcp-log.ts';

const defaultPage = 10;
const shownFields = mcpListedFields.join(',');

/** A short list of deployments, for readers with little room. The words of `statuses` were checked. */
async function listMcpDeployments(
  context: ActorContext,
  environmentId: string,
  { statuses, limit = defaultPage, offset = 0 }: QueryOf<typeof operations.listMcpDeployments>,
): Promise<McpDeploymentList> {
  const filter = { environmentId, statuses: statuses?.split(',') as DeploymentStatus[] | undefined };
  const { rows, total } = await listDeploymentPage(context.db, filter, { limit, offset }, largeColumns);
  const users = await getUsers(context.db, peopleOf(rows));
  const texts = await deploymentTexts(context, rows, users);
  return {
    deployments: texts.map(({ text }) => pickFields(parseExactly(text) as McpListedDeployment, shownFields)),
    hasMore: offset + rows.length < total,
  };
}

const omitted = mcpOmittedFields.join(',');

const mcpRoutes: Route[] = [
  route(operations.listMcpProjects, (context, { query }) => listProjects(context, query.organizationId)),
  route(operations.listMcpEnvironments, async (context, { query }, { reply }) => {
    const { environments, total } = await listEnvironments(context, { ...query, excludeFields: omitted });
    reply.header('x-total-count', String(total));
    return environments;
  }),
  route(operations.getMcpEnvironment, async (context, { params: { id } }) =>
    environmentView(context, orNotFound(await getEnvironmentRow(context.db, id), 'environment', id)),
  ),
  route(operations.listMcpDeployments, (context, { params, query }) =>
    listMcpDeployments(context, params.id, query),
  ),
  route(operations.startMcpDeployment, (context, { params, body }) => {
    const { revision: blueprintRevision, comment } = body ?? {};
    return deployEnvironment(context, params.id, {
      ...(blueprintRevision === undefined ? {} : { blueprintRevision }),
      ...(comment === undefined ? {} : { comment }),
    });
  }),
  route(operations.resumeMcpEnvironment, (context, { params }) => approveLatest(context, params.id)),
  route(operations.cancelMcpEnvironment, (context, { params }) => cancelLatest(context, params.id)),
  route(operations.abortMcpEnvironment, (context, { params }) => abortLatest(context, params.id)),
  route(operations.getMcpPlanLog, (context, { params }) => planLog(context, params.id)),
  route(operations.getMcpErrorAnalysis, (context, { params }) => analyzeError(context, params.id)),
  route(operations.getMcpDeployment, (context, { params, query }) =>
    deploymentWithLog(context, params.deploymentLogId, query.stepName),
  ),
];

export const family: Family = { name: 'mcp', routes: mcpRoutes };
