import type { Command } from 'commander';
import type { Deployment, Step } from '#contract/deployments/shapes.ts';
import type { DeploymentStatus, DeploymentType } from '#contract/schema/enumerations.ts';
import { gather, onCall, wholeNumber } from '../call/command-line.ts';
import { allPages } from '../call/pages.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../find/find-deployment.ts';
import { findEnvironment } from '../find/find-environment.ts';
import type { CommandSession } from '../session/session.ts';
import { costText, reviewsText, verdictLines, waitLines } from '../show/show-approval.ts';
import { levelLines, plannedText, tookText } from '../show/show-deployment.ts';
import { showDiagnostics } from '../show/show-diagnostics.ts';
import { showTiming } from '../show/show-timing.ts';
import { showUnrecorded } from '../show/show-unrecorded.ts';
import { durationBetween, timeText } from '../terminal/durations.ts';
import { optionOf } from '../terminal/suggest.ts';
import type { TableColumn } from '../terminal/table.ts';
import { addPlanDocumentCommands } from './plans/plan-documents.ts';

const types = [
  'deploy',
  'destroy',
  'prPlan',
  'driftDetection',
  'task',
  'remotePlan',
  'dryRun',
] as const satisfies readonly DeploymentType[];
const statuses = [
  'QUEUED',
  'IN_PROGRESS',
  'WAITING_FOR_USER',
  'ABORTING',
  'SUCCESS',
  'FAILURE',
  'INTERNAL_FAILURE',
  'TIMEOUT',
  'ABORTED',
  'CANCELLED',
  'SKIPPED',
] as const satisfies readonly DeploymentStatus[];

interface ListDeploymentsFlags {
  readonly type?: string[];
  readonly status?: string[];
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
}

const listColumns: TableColumn<Deployment & { readonly took: string }>[] = [
  { head: 'TYPE', value: ({ type }) => type, isWhole: true },
  { head: 'STATUS', value: ({ status }) => status, isWhole: true },
  { head: 'QUEUED', value: ({ queuedAt }) => timeText(queuedAt), isWhole: true, isExtra: true },
  { head: 'TOOK', value: ({ took }) => took, isWhole: true, isExtra: true },
  {
    head: 'PLAN',
    value: plannedText,
    isWhole: true,
    isExtra: true,
  },
  { head: 'COMMENT', value: ({ comment }) => comment, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
];

const stepColumns: TableColumn<Step>[] = [
  { head: 'STEP', value: ({ name }) => name },
  { head: 'STATUS', value: ({ status }) => status },
  { head: 'TOOK', value: ({ startedAt, completedAt }) => durationBetween(startedAt, completedAt) },
  { head: 'RETRIES', value: ({ retryCount }) => retryCount, isExtra: true },
];

async function listAll(
  { client }: CommandSession,
  id: string,
  { type, status, from, to, limit: most }: ListDeploymentsFlags,
): Promise<Deployment[]> {
  const query = { deploymentTypes: type?.join(','), statuses: status?.join(','), fromDate: from, toDate: to };
  return allPages(
    (page) => client.call('listDeployments', { params: { id }, query: { ...query, ...page } }),
    most,
  );
}

/** The deployment or the environment that caused it; undefined: a person, a schedule or the like. */
function causeText({ causedBy, upstreamEnvironmentId: upstream }: Deployment): string | undefined {
  const parts = [causedBy && `deployment ${causedBy}`, upstream && `of environment ${upstream}`];
  return parts.filter(Boolean).join(' ') || undefined;
}

function remediationText({ remediation }: Deployment): string | undefined {
  if (!remediation) return undefined;
  const { strategy, deploymentId, reason } = remediation;
  return deploymentId
    ? `${strategy}: deployment ${deploymentId}`
    : `${strategy}: not started. ${reason ?? ''}`;
}

async function show({ output, client }: CommandSession, id: string, deployment: Deployment): Promise<void> {
  const { startedByUser } = deployment;
  await output.fields([
    ['Id', id],
    ['Type', deployment.type],
    ['Status', deployment.status],
    ['Waiting', deployment.waitingFor?.text],
    ['Approval', waitLines(deployment).join('\n')],
    ['Environment', deployment.environmentId],
    ['Started by', startedByUser.name ?? deployment.startedBy],
    ['Reviewed by', reviewsText(deployment)],
    ['Policies', verdictLines(deployment).join('\n')],
    ['Costs', costText(deployment)],
    ['Caused by', causeText(deployment)],
    ['Skipped for', deployment.skippedFor],
    ['Remediation', remediationText(deployment)],
    ['Comment', deployment.comment],
    ['Queued', timeText(deployment.queuedAt)],
    ['Started', timeText(deployment.startedAt)],
    ['Finished', timeText(deployment.finishedAt)],
    ['Took', await tookText(client, deployment)],
    ['Revision', deployment.blueprintRevision || 'the default branch'],
    ['Commit', deployment.gitMetadata?.commit],
    ['Targets', deployment.targets?.join(', ')],
    ['Plan', plannedText(deployment)],
    ['Levels', levelLines(deployment).join('\n')],
    ['Plan hash', deployment.planHash],
    ['Failed command', deployment.failedCommand],
    ['Error', deployment.error?.message],
    ['Resources', deployment.resourceCount],
  ]);
  const steps = await client.call('listSteps', { params: { deploymentLogId: id } });
  if (steps.length > 0) await output.line();
  if (steps.length > 0) await output.table(steps, stepColumns, '');
  await showDiagnostics(output, deployment);
  const unrecorded = deployment.unrecordedResources ?? [];
  if (unrecorded.length > 0) await output.line();
  await showUnrecorded(output, unrecorded);
}

export function addDeploymentCommands(program: Command): void {
  const group = program.command('deployments').alias('deployment').description('deployments of environments');
  const list = group
    .command('list <environment>')
    .description('list deployments of an environment, newest first')
    .addOption(optionOf('--type <type>', 'only of this type; may be repeated', types).argParser(gather))
    .addOption(
      optionOf('--status <status>', 'only with this status; may be repeated', statuses).argParser(gather),
    )
    .option('--from <time>', 'only those queued at or after this time, such as 2026-12-24T18:00:00Z')
    .option('--to <time>', 'only those queued at or before this time')
    .option('--limit <number>', 'show at most this many', wholeNumber('--limit', 1), 20);
  onCall<ListDeploymentsFlags>(list, async ({ session, args: [name = ''], options }) => {
    const { id } = await findEnvironment(session, name);
    const deployments = await listAll(session, id, options);
    if (session.isJson) return session.output.json(deployments);
    const rows = await Promise.all(
      deployments.map(async (each) => ({ ...each, took: await tookText(session.client, each) })),
    );
    return session.output.table(rows, listColumns, 'No deployments.');
  });

  onCall<DeploymentFlags & { readonly timing?: boolean }>(
    withDeploymentFlags(group.command('show').description('show a deployment and its steps')).option(
      '--timing',
      'show where its time went instead',
    ),
    async ({ session, args: [deployment], options }) => {
      const id = await findDeploymentId(session, deployment, options);
      if (options.timing === true) return showTiming(session, id);
      const shown = await session.client.call('getDeployment', { params: { id } });
      return session.isJson ? session.output.json(shown) : show(session, id, shown);
    },
  );
  addPlanDocumentCommands(group);
}
