/** `drift`: checks for drift and shows what differs. Its exit statuses tell drift from an error. */
import { type Command, Option } from 'commander';
import type { Plan } from '#contract/deployments/plan.ts';
import { isDrift, kindOf, kindWords } from '#contract/deployments/plan-counts.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { findEnvironment } from '../find/find-environment.ts';
import { type ExitCode, exitCodes } from '../session/exit-codes.ts';
import { type CommandSession, tell } from '../session/session.ts';
import { follow, showStarted } from '../show/follow.ts';
import { showResult } from '../show/show-deployment.ts';
import { timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';
import { optionOf } from '../terminal/suggest.ts';
import type { TableColumn } from '../terminal/table.ts';

interface DriftRunFlags {
  readonly follow?: boolean;
  readonly wait: boolean;
  readonly comment?: string;
  readonly remediation?: Strategy;
}

const strategies = ['DISABLED', 'CODE_TO_CLOUD'] as const;
type Strategy = (typeof strategies)[number];

type DriftChange = Plan['resourceChanges'][number];

const columnsUnder = (head: string): TableColumn<DriftChange>[] => [
  { head, value: (change) => kindWords[kindOf(change)].word, isWhole: true },
  { head: 'ADDRESS', value: ({ path }) => path, isWhole: true },
  {
    head: 'ATTRIBUTES',
    value: ({ attributes }) => attributes.map(({ name }) => name).join(', '),
    isExtra: true,
  },
];

async function showDrift(
  { client, output }: CommandSession,
  id: string,
  deployment: Deployment,
): Promise<void> {
  const changes = deployment.plan?.resourceChanges.filter(isDrift) ?? [];
  await output.table(changes, columnsUnder('DRIFT'), 'Only outputs differ.');
  const { driftDeployment } = await client.call('getDriftStatus', { params: { id } });
  const commits = driftDeployment.driftCause?.unappliedCommits ?? [];
  if (commits.length > 0) await output.line('Commits that have not been deployed:');
  for (const { commitHash, timestamp, userEmail } of commits)
    await output.line(`  ${plain(commitHash).slice(0, 12)}  ${timeText(timestamp)}  ${plain(userEmail)}`);
}

/** Differences that the plan does not change are not drift, but a person who compares sees them. */
async function showSettled({ output }: CommandSession, { plan }: Deployment): Promise<void> {
  const settled = plan?.settled ?? [];
  if (settled.length === 0) return;
  await output.table(settled, columnsUnder('SETTLED'), '');
  await output.line('Settled attributes are not drift: the next deploy stores them in the state.');
}

async function report(session: CommandSession, id: string, isFollowed: boolean): Promise<ExitCode> {
  const deployment = await session.client.call('getDeployment', { params: { id } });
  const isGood = deployment.status === 'SUCCESS';
  if (session.isJson) await writeJson(session, await withCause(session, id, deployment), isFollowed);
  else if (isGood && deployment.driftDetected) await showDrift(session, id, deployment);
  if (!session.isJson && isGood) await showSettled(session, deployment);
  if (!session.isJson) await showResult(session, id, deployment);
  if (!isGood) return exitCodes.failed;
  return deployment.driftDetected ? exitCodes.drifted : exitCodes.good;
}

/** One document, or the last line of those that are followed. */
async function writeJson(
  { output }: CommandSession,
  driftStatus: { readonly driftDeployment: unknown },
  isFollowed: boolean,
): Promise<void> {
  await output.json(
    isFollowed ? { event: 'deployment', data: driftStatus.driftDeployment } : driftStatus,
    isFollowed,
  );
}

async function withCause(
  { client }: CommandSession,
  id: string,
  deployment: Deployment,
): Promise<{ readonly driftDeployment: unknown }> {
  return deployment.status === 'SUCCESS'
    ? client.call('getDriftStatus', { params: { id } })
    : { driftDeployment: deployment };
}

export function addDriftCommand(program: Command): void {
  const drift = program
    .command('drift <environment>')
    .description(
      'check for drift and show what differs; exit status 0 without drift, 2 with drift, 1 for everything else',
    )
    .option('--comment <text>', 'shown with the deployment')
    .addOption(
      optionOf('--remediation <strategy>', 'reaction to drift, instead of that of the schedule', strategies),
    )
    .addOption(new Option('-f, --follow', 'show the log live').conflicts('wait'))
    .option('--no-wait', 'return immediately');
  onCall<DriftRunFlags>(
    drift,
    async ({ session, args: [name = ''], options }) => {
      const environment = await findEnvironment(session, name);
      const body = {
        deploymentType: 'driftDetection',
        comment: options.comment,
        autoDriftRemediationStrategy: options.remediation,
      } as const;
      const started = await session.client.call('deployEnvironment', {
        params: { id: environment.id },
        body,
      });
      if (!options.wait) return showStarted(session, started, environment.name, {});
      if (session.isJson && options.follow)
        await session.output.json({ event: 'deployment', data: started }, true);
      if (!session.isJson) tell(`driftDetection ${started.id} of ${plain(environment.name)}`);
      const end = await follow(session, started.id, {
        isQuiet: !options.follow,
        hasNoResult: true,
        status: started.status,
      });
      return end === exitCodes.interrupted ? end : report(session, started.id, options.follow === true);
    },
    { errorCode: exitCodes.failed },
  );
}
