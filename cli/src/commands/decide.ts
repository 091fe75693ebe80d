import type { Command } from 'commander';
import { onCall } from '../call/command-line.ts';
import { type FollowFlags, withFollowFlags } from '../call/follow-flags.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../find/find-deployment.ts';
import { findEnvironment } from '../find/find-environment.ts';
import { BadCall } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { follow, showStarted } from '../show/follow.ts';

interface ApproveFlags extends DeploymentFlags, FollowFlags {
  readonly planHash?: string;
  readonly comment?: string;
}

interface CancelFlags extends DeploymentFlags {
  readonly queued?: boolean;
  readonly planHash?: string;
  readonly comment?: string;
}

async function endedSteps({ client }: CommandSession, id: string): Promise<ReadonlySet<string>> {
  const steps = await client.call('listSteps', { params: { deploymentLogId: id } });
  return new Set(steps.filter(({ completedAt }) => completedAt !== undefined).map(({ name }) => name));
}

/** With policies, one approval may not be enough. */
async function whatFollows({ client }: CommandSession, id: string): Promise<string> {
  const fields = 'policyVerdicts';
  const { policyVerdicts = [] } = await client.call('getDeployment', { params: { id }, query: { fields } });
  if (policyVerdicts.length === 0) return `${id} continues`;
  return `${id} continues unless its approval policies ask for another approver (envarium deployments show ${id})`;
}

function addApprove(program: Command): void {
  const approve = withDeploymentFlags(
    program
      .command('approve')
      .description('approve a deployment that waits for approval, so that its plan is applied'),
  )
    .option('--plan-hash <hash>', 'approve only the plan with this hash')
    .option('--comment <text>', 'reason, kept with the approval');
  onCall<ApproveFlags>(withFollowFlags(approve), async ({ session, args: [deployment], options }) => {
    const id = await findDeploymentId(session, deployment, options);
    const hiddenSteps = options.follow ? await endedSteps(session, id) : undefined;
    const approved = await session.client.call('approveDeployment', {
      params: { id },
      body: { planHash: options.planHash, comment: options.comment },
    });
    if (session.isJson && !options.wait)
      await session.output.json(
        options.follow ? { event: 'approved', data: approved } : approved,
        options.follow,
      );
    else if (!session.isJson) await session.output.line(`Approved: ${await whatFollows(session, id)}`);
    if (options.wait) return follow(session, id, { isQuiet: true });
    return options.follow ? follow(session, id, { hiddenSteps }) : undefined;
  });
}

async function cancelQueued(
  session: CommandSession,
  environment: string | undefined,
  deployment: string | undefined,
): Promise<void> {
  if (environment === undefined || deployment !== undefined)
    throw new BadCall(
      '--queued requires --environment and no deployment: it cancels all queued deployments of the environment.',
    );
  const { id } = await findEnvironment(session, environment);
  const cancelled = await session.client.call('cancelQueuedDeployments', { params: { id } });
  return session.answer(cancelled, () =>
    cancelled.ids.length === 0 ? 'Nothing was queued' : ['Cancelled:', ...cancelled.ids].join('\n'),
  );
}

function addCancel(program: Command): void {
  const cancel = withDeploymentFlags(
    program.command('cancel').description('cancel a deployment that waits for approval, or a queued one'),
  )
    .option('--queued', 'with --environment: cancel all queued deployments')
    .option('--plan-hash <hash>', 'refuse only the plan with this hash')
    .option('--comment <text>', 'reason, kept with the refusal of a plan');
  onCall<CancelFlags>(cancel, async ({ session, args: [deployment], options }) => {
    if (options.queued) return cancelQueued(session, options.environment, deployment);
    const id = await findDeploymentId(session, deployment, options);
    const cancelled = await session.client.call('cancelDeployment', {
      params: { id },
      body: { planHash: options.planHash, comment: options.comment },
    });
    return session.answer(cancelled, `Cancelled: ${id}`);
  });
}

function addAbort(program: Command): void {
  const abort = withDeploymentFlags(
    program.command('abort').description('interrupt a running deployment; its state is kept'),
  );
  onCall<DeploymentFlags>(abort, async ({ session, args: [deployment], options }) => {
    const id = await findDeploymentId(session, deployment, options);
    const aborted = await session.client.call('abortDeployment', { params: { id } });
    if (session.isJson) return session.output.json(aborted);
    const { status } = await session.client.call('getDeployment', {
      params: { id },
      query: { fields: 'status' },
    });
    await session.output.line(`${id} is ${status}`);
    return status === 'ABORTING'
      ? session.output.line(
          `Waiting for the tool to stop on its own. Follow it:  envarium logs ${id} --follow`,
        )
      : undefined;
  });
}

function addRelease(program: Command): void {
  const release = withDeploymentFlags(
    program
      .command('release')
      .description(
        'release a deployment whose agent does not respond, before the service does so automatically',
      ),
  ).requiredOption('--reason <text>', 'how you know that the run has ended; kept in the audit trail');
  onCall<DeploymentFlags & { reason: string }>(release, async ({ session, args: [deployment], options }) => {
    const id = await findDeploymentId(session, deployment, options);
    const released = await session.client.call('releaseDeployment', {
      params: { id },
      body: { reason: options.reason },
    });
    return session.answer(
      released,
      () => `${id} is ${released.status}: its environment accepts deployments again`,
    );
  });
}

function addRerun(program: Command): void {
  const rerun = withFollowFlags(
    withDeploymentFlags(
      program
        .command('rerun')
        .description('run a plan again (prPlan, dryRun, remotePlan or driftDetection), at the same commit'),
    ),
  );
  onCall<DeploymentFlags & FollowFlags>(rerun, async ({ session, args: [deployment], options }) => {
    const { client } = session;
    const params = { id: await findDeploymentId(session, deployment, options) };
    const before = await client.call('getDeployment', { params, query: { fields: 'type,environmentId' } });
    await client.call('rerunDeployment', { params });
    const environment = { id: before.environmentId };
    const query = { deploymentTypes: before.type, limit: 1 };
    const [started] = await client.call('listDeployments', { params: environment, query });
    const { name } = await client.call('getEnvironment', { params: environment });
    return started?.id === undefined
      ? session.output.line('Started.')
      : showStarted(session, { ...started, id: started.id }, name, options);
  });
}

export function addDecideCommands(program: Command): void {
  addApprove(program);
  addCancel(program);
  addAbort(program);
  addRelease(program);
  addRerun(program);
}
