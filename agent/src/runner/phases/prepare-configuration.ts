/** The way to a configuration that a tool can plan or a task can use: clone, variables, init and workspace. */
import type { Job } from '#protocol/messages/job.ts';
import { variablesStep as setupStep, sourceStep } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { inStep, skipStep } from '../../attempt/attempt-log.ts';
import { checkoutStep } from '../code/checkout-step.ts';
import { unpackSourceStep } from '../code/unpack-source.ts';
import { runCommands } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  type Configuration,
  checkJob,
  checkPrepared,
  codeConstraints,
  describeConfiguration,
  findStateOwner,
  writeDriverFiles,
} from '../configuration/configuration.ts';
import { refuseImports } from '../configuration/import-resources.ts';
import { usesPlugins } from '../configuration/lock-file.ts';
import { runOrReuse } from '../reuse/run-or-reuse.ts';
import { migrateState, refuseToLeaveState } from '../state/migrate-state.ts';
import { refuseEmptyWorkspace } from '../state/refuse-empty-workspace.ts';
import { resolveTool, type ToolNeeds } from '../tool/resolve-tool.ts';
import { inspectCode } from './inspect-code.ts';

/** A configuration that is ready for its tool. */
export interface PreparedConfiguration {
  readonly configuration: Configuration;
  /** Empty if the code was uploaded. */
  readonly commit: string;
}

/** @throws RunFailure if a step fails */
export async function prepareConfiguration(attempt: RunnerAttempt): Promise<PreparedConfiguration> {
  const commit = await fetchSource(attempt);
  const configuration = await setUp(attempt, commit);
  const commands = await attempt.driver.prepare(configuration.context);
  await runCommands(attempt, configuration, commands, {
    replace: (command, run) => runOrReuse(attempt, { configuration, command, commit }, run),
    beforeLast: () => refuseEmptyWorkspace(attempt, configuration),
    afterLast: () => checkPrepared(attempt, configuration),
  });
  const hasPlugins = await usesPlugins(attempt, configuration);
  return { configuration: { ...configuration, hasPlugins }, commit };
}

/** @returns the commit; empty if there is none */
async function fetchSource(attempt: AttemptContext): Promise<string> {
  const { archive, chart } = attempt.job.source;
  if (chart !== undefined) {
    skipStep(attempt, sourceStep(attempt.job.type));
    return '';
  }
  if (archive === undefined) return checkoutStep(attempt);
  await unpackSourceStep(attempt);
  return '';
}

/** Later levels are planned by the programs of the first one. */
function programsOfLevel({ level }: Job): Pick<ToolNeeds, 'planned' | 'plannedCompanions'> {
  const { toolVersion, companions } = level ?? {};
  return {
    ...(toolVersion === undefined ? {} : { planned: toolVersion }),
    ...(companions === undefined ? {} : { plannedCompanions: companions }),
  };
}

async function setUp(attempt: RunnerAttempt, commit: string): Promise<Configuration> {
  return inStep(attempt, setupStep, async () => {
    await checkJob(attempt, setupStep, commit);
    const tool = await resolveTool(attempt, setupStep, {
      ...programsOfLevel(attempt.job),
      required: (program) => codeConstraints(attempt, program),
    });
    const toolVersion = tool.version;
    attempt.facts.add({ toolVersion });
    refuseImports(attempt, toolVersion);
    const inspected = await inspectCode(attempt, setupStep, { tool, commit });
    const isStateOurs = await findStateOwner(attempt, commit, inspected);
    attempt.facts.add({ isStateOurs });
    refuseToLeaveState(attempt, isStateOurs);
    const facts = { tool, commit, isStateOurs, inspected };
    await migrateState(attempt, setupStep, facts);
    const described = describeConfiguration(attempt, facts);
    return { ...described, written: await writeDriverFiles(attempt, described.context) };
  });
}
