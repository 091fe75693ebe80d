/** Operations for MCP servers, each with its verb. */
import { mcpOmittedFields } from '#contract/mcp/operations.ts';
import { operations } from '#contract/operations.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import { getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { deployEnvironment } from '../../runs/deployments/deploy-environment.ts';
import { environmentView } from '../../runs/environments/environment-view.ts';
import { listEnvironments } from '../../runs/environments/list-environments.ts';
import { listProjects } from '../../tenancy/projects/list-projects.ts';
import { abortLatest, approveLatest, cancelLatest } from './act-on-latest.ts';
import { analyzeError } from './analyze-error.ts';
import { deploymentWithLog } from './deployment-with-log.ts';
import { listMcpDeployments } from './list-mcp-deployments.ts';
import { planLog } from './plan-log.ts';

const omitted = mcpOmittedFields.join(',');

export const mcpRoutes: Route[] = [
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
