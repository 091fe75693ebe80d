/** Shapes for MCP servers: shorter than for other clients, and one request for each question. */
import { type Static, Type } from 'typebox';
import { Diagnostic } from '../deployments/diagnostic-shape.ts';
import { DeploymentErrorBody } from '../deployments/plan.ts';
import { Deployment, LogEvent, StartedDeployment, Step } from '../deployments/shapes.ts';
import { deploymentStatuses, deploymentTypes, oneOf, stepStatuses } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

/** Maximum size of a log that is shown: its end. */
export const mcpLogKilobytes = 128;

const logFields = {
  stepName: Type.String({ description: 'Name of the step' }),
  events: Type.Array(LogEvent, {
    description: `The lines of its log; of a long one those of the last ${mcpLogKilobytes} KB`,
  }),
  truncated: Type.Boolean({
    description: 'Whether earlier lines were left out; the log of the step has all of them',
  }),
};

export const McpLog = Type.Object(logFields, { title: 'McpLog' });
export type McpLog = Static<typeof McpLog>;

/** Fields of each deployment in their list. */
export const mcpListedFields = [
  'id',
  'status',
  'type',
  'queuedAt',
  'startedAt',
  'finishedAt',
  'triggerName',
  'comment',
  'resourceCount',
  'blueprintRevision',
  'blueprintName',
  'blueprintType',
  'prNumber',
  'gitMetadata',
  'planSummary',
  'failedCommand',
] as const;

export const McpListedDeployment = Type.Pick(StartedDeployment, mcpListedFields, {
  title: 'McpListedDeployment',
});
export type McpListedDeployment = Static<typeof McpListedDeployment>;

export const McpDeploymentList = Type.Object(
  {
    deployments: Type.Array(McpListedDeployment, { description: 'The page, newest first' }),
    hasMore: Type.Boolean({ description: 'Whether there are older ones after this page' }),
  },
  { title: 'McpDeploymentList' },
);
export type McpDeploymentList = Static<typeof McpDeploymentList>;

export const McpDeployment = replyObject('McpDeployment', {
  deployment: Deployment,
  steps: Type.Array(Step, { description: 'All its steps, in their order' }),
  log: McpLog,
});
export type McpDeployment = Static<typeof McpDeployment>;

export const McpPlanLog = Type.Object(
  {
    deploymentLogId: Type.String({ description: 'The latest deployment of the environment' }),
    status: oneOf(stepStatuses, 'Status of the step'),
    ...logFields,
  },
  { title: 'McpPlanLog' },
);
export type McpPlanLog = Static<typeof McpPlanLog>;

export const McpErrorAnalysis = replyObject('McpErrorAnalysis', {
  deploymentLogId: Type.String({ description: 'The latest deployment of the environment' }),
  type: oneOf(deploymentTypes, 'Type of the deployment'),
  status: oneOf(deploymentStatuses, 'Status of the deployment'),
  error: DeploymentErrorBody,
  failedCommand: Type.Optional(Text),
  diagnostics: Type.Optional(
    Type.Array(Diagnostic, { description: 'Errors, failed checks and warnings of the tool, in this order' }),
  ),
  failedStep: Step,
  log: McpLog,
});
export type McpErrorAnalysis = Static<typeof McpErrorAnalysis>;
