/**
 * Operations for MCP servers: what they need of projects, environments and deployments. Changes act on the latest
 * deployment of an environment. Refusals are plain text.
 */
import { type Static, Type } from 'typebox';
import { DeploymentReference, StartedDeployment } from '../deployments/shapes.ts';
import { Environment } from '../environments/shapes.ts';
import { Project } from '../projects/shapes.ts';
import { aboutOne } from '../schema/by-id.ts';
import { deploymentStatuses } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, commaListOf, Name, offsetOf, Prose } from '../schema/schema.ts';
import { McpDeployment, McpDeploymentList, McpErrorAnalysis, McpPlanLog } from './shapes.ts';

const thisEnvironment = aboutOne('environment');

/** Fields of environments that their list does not have. */
export const mcpOmittedFields = [
  'resources',
  'latestDeploymentLog.resources',
  'latestDeploymentLog.plan',
  'latestDeploymentLog.variables',
] as const;

export const StartMcpDeploymentBody = closed({
  revision: Type.Optional(
    Type.String({
      description: 'Branch, tag or commit; later deployments use it, too. Default: that of the environment',
    }),
  ),
  comment: Type.Optional(Prose),
});
export type StartMcpDeploymentBody = Static<typeof StartMcpDeploymentBody>;

const plainText = 'Errors are plain text.';

export const operations = defineOperations('mcp', {
  listMcpProjects: operation('GET', '/mcp/projects', {
    summary: 'List projects for MCP',
    description: `The same as \`listProjects\`. ${plainText}`,
    needs: 'signed-in',
    query: Type.Object({
      organizationId: Type.Optional(Type.String({ description: 'Only projects of this organization' })),
    }),
    reply: Type.Array(Project),
  }),
  listMcpEnvironments: operation('GET', '/mcp/environments', {
    summary: 'List environments for MCP',
    description:
      'The environments that the caller may see, newest first, without resources, plan and variables: a single ' +
      `environment has them. \`x-total-count\` contains the total number. ${plainText}`,
    needs: 'signed-in',
    query: Type.Object({
      organizationId: Type.Optional(Type.String({ description: 'Only environments of this organization' })),
      projectId: Type.Optional(Type.String({ description: 'Only environments of this project' })),
      name: Type.Optional(Type.String({ description: 'The exact name' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 100' })),
      offset: Type.Optional(offsetOf('environment')),
    }),
    reply: Type.Array(Environment),
  }),
  getMcpEnvironment: operation('GET', '/mcp/environments/{id}', {
    summary: 'Get environment for MCP',
    description: `The same as \`getEnvironment\`. ${plainText}`,
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    reply: Environment,
  }),
  listMcpDeployments: operation('GET', '/mcp/environments/{id}/deployments', {
    summary: 'List deployments for MCP',
    description: `Those of one environment, newest first. ${plainText}`,
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    query: Type.Object({
      statuses: Type.Optional(commaListOf(deploymentStatuses, 'Statuses to return')),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 25, description: 'Page size; default 10' })),
      offset: Type.Optional(offsetOf('deployment')),
    }),
    reply: McpDeploymentList,
  }),
  startMcpDeployment: operation('POST', '/mcp/environments/{id}/deployments', {
    summary: 'Deploy environment for MCP',
    description: `Starts a deployment, or queues it behind the active one. ${plainText}`,
    needs: 'RUN_PLAN',
    needsToo: [
      {
        right: 'OVERRIDE_MAX_ENVIRONMENT_PROJECT_LIMITS',
        for: 'an environment beyond `numberOfEnvironments` of the policy',
      },
    ],
    updates: 'getMcpEnvironment',
    ...thisEnvironment,
    body: StartMcpDeploymentBody,
    bodyOptional: true,
    reply: StartedDeployment,
  }),
  resumeMcpEnvironment: operation('PUT', '/mcp/environments/{id}/resume', {
    summary: 'Approve the latest deployment for MCP',
    description: `As \`approveDeployment\` does; 409 if it does not wait for approval. ${plainText}`,
    needs: 'RUN_APPLY',
    updates: 'getMcpEnvironment',
    ...thisEnvironment,
    reply: DeploymentReference,
  }),
  cancelMcpEnvironment: operation('PUT', '/mcp/environments/{id}/cancel', {
    summary: 'Cancel the latest deployment for MCP',
    description: `As \`cancelDeployment\` does; 409 if it neither waits for approval nor is queued. ${plainText}`,
    needs: 'RUN_PLAN',
    updates: 'getMcpEnvironment',
    ...thisEnvironment,
    reply: DeploymentReference,
  }),
  abortMcpEnvironment: operation('POST', '/mcp/environments/{id}/abort', {
    summary: 'Abort the latest deployment for MCP',
    description: `As \`abortDeployment\` does; 409 if it does not run. ${plainText}`,
    needs: 'ABORT_DEPLOYMENT',
    updates: 'getMcpEnvironment',
    ...thisEnvironment,
    reply: DeploymentReference,
  }),
  getMcpPlanLog: operation('GET', '/mcp/environments/{id}/plan/logs', {
    summary: 'Get log of the latest plan for MCP',
    description:
      'Of the step that plans, in the latest deployment. 404 if that has no such step, 400 before the step has ' +
      `started. ${plainText}`,
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    reply: McpPlanLog,
  }),
  getMcpErrorAnalysis: operation('GET', '/mcp/environments/{id}/error-analysis', {
    summary: 'Analyze the error of the latest deployment for MCP',
    description: `Its error, and the step that failed with the lines of its log. ${plainText}`,
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    reply: McpErrorAnalysis,
  }),
  getMcpDeployment: operation('GET', '/mcp/deployments/{deploymentLogId}', {
    summary: 'Get deployment with its steps and a log for MCP',
    description: `400 for the log of a step that it does not have, or that has not started. ${plainText}`,
    needs: 'VIEW_ENVIRONMENT',
    subject: { entity: 'deployment', in: 'params', field: 'deploymentLogId' },
    params: Type.Object({ deploymentLogId: Name }),
    query: Type.Object({
      stepName: Type.Optional(
        Type.String({
          description: 'Step whose log to show; empty or absent: the first that failed or timed out, if any',
        }),
      ),
    }),
    reply: McpDeployment,
  }),
});
