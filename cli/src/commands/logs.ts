import type { Command } from 'commander';
import type { Step, StepLog } from '#contract/deployments/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../find/find-deployment.ts';
import { BadCall, exitCodes } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { follow } from '../show/follow.ts';
import { LogPrinter } from '../terminal/log-printer.ts';
import { plain } from '../terminal/safe-text.ts';

interface LogFlags extends DeploymentFlags {
  readonly step?: string;
  readonly follow?: boolean;
}

/** The pages of a step's log so far. */
async function* pagesOf(
  { client }: CommandSession,
  { deploymentLogId, name }: Step,
): AsyncGenerator<StepLog> {
  for (let startTime: string | undefined; ; ) {
    const page = await client.call('getStepLog', { params: { deploymentLogId, name }, query: { startTime } });
    yield page;
    if (!page.hasMoreLogs || page.nextStartTime === startTime) return;
    startTime = page.nextStartTime;
  }
}

/** All pages combined. */
async function wholeLog(session: CommandSession, step: Step): Promise<StepLog> {
  let whole: StepLog = { events: [], hasMoreLogs: false };
  for await (const page of pagesOf(session, step))
    whole = { ...page, events: [...whole.events, ...page.events] };
  return whole;
}

async function stepsOf({ client }: CommandSession, id: string, name: string | undefined): Promise<Step[]> {
  const all = await client.call('listSteps', { params: { deploymentLogId: id } });
  if (name === undefined) return all.filter(({ status }) => status !== 'NOT_STARTED' && status !== 'SKIPPED');
  const steps = all.filter((step) => step.name === name);
  if (steps.length === 0)
    throw new BadCall(
      `The deployment has no step "${name}". Its steps: ${all.map((step) => plain(step.name)).join(', ')}.`,
    );
  return steps;
}

async function showLogs(session: CommandSession, steps: readonly Step[], hasHeads: boolean): Promise<void> {
  const printer = new LogPrinter(session.output);
  for (const step of steps) {
    if (hasHeads)
      await session.output.line(
        session.output.style(['bold', 'cyan'], `${session.output.signs('▸')} ${plain(step.name)}`),
      );
    for await (const { events } of pagesOf(session, step)) {
      for (const { message } of events) await printer.print({ text: `${message}\n` });
    }
    await printer.endLine();
  }
}

/** The log of one step, or all steps with their logs. */
async function writeJson(session: CommandSession, steps: readonly Step[], isOne: boolean): Promise<void> {
  const all: { step: Step; log: StepLog }[] = [];
  for (const step of steps) all.push({ step, log: await wholeLog(session, step) });
  await session.output.json(isOne ? all[0]?.log : all);
}

export function addLogCommands(program: Command): void {
  const logs = withDeploymentFlags(program.command('logs').description('show the log of a deployment'))
    .option('--step <name>', 'show only this step')
    .option(
      '-f, --follow',
      'continue until the deployment ends or waits for approval, or the step of --step ends; the exit status is that of the deployment or the step',
    );
  onCall<LogFlags>(logs, async ({ session, args: [deployment], options: { step, ...options } }) => {
    const id = await findDeploymentId(session, deployment, options);
    if (options.follow && step === undefined) return follow(session, id);
    const steps = await stepsOf(session, id, step);
    if (options.follow) return follow(session, id, { step });
    if (session.isJson) await writeJson(session, steps, step !== undefined);
    else await showLogs(session, steps, step === undefined);
    return exitCodes.good;
  });
}
