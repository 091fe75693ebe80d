/** The way to a configuration that a tool can plan or a task can use: clone, variables, init and workspace. */
import type { Job } from '#protocol/messages/job.ts';
import { variablesStep as setupStep, sourceStep } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { PhaseCaptures as ReadCaptures } from '../../drivers/interface/command.ts';
import { checkoutStep } from '../code/checkout-step.ts';
import { unpackSourceStep } from '../code/unpack-source.ts';
import type { Captures } from '../commands/command-files.ts';
import { runCommands, runOne } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  asRunFailure,
  type Configuration,
  type ConfigurationFacts,
  checkJob,
  checkPrepared,
  codeConstraints,
  describeConfiguration,
  findStateOwner,
  hasPlugins,
  readLockFileBytes,
  refuseImports,
  writeDriverFiles,
} from '../configuration/configuration.ts';
import { runOrReuse } from '../reuse/run-or-reuse.ts';
import { migrateState, refuseEmptyWorkspace, refuseToLeaveState } from '../state/code-backend.ts';
import { resolveTool, type ToolNeeds } from '../tool/resolve-tool.ts';

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
  const lockFile = await readLockFileBytes(attempt, configuration);
  return { configuration: { ...configuration, hasPlugins: hasPlugins(attempt, lockFile) }, commit };
}

/** @returns the commit; empty if there is none */
async function fetchSource(attempt: AttemptContext): Promise<string> {
  const { archive, chart } = attempt.job.source;
  if (chart !== undefined) {
    attempt.steps.skip(sourceStep(attempt.job.type));
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
  return attempt.steps.run(setupStep, async () => {
    const planned = programsOfLevel(attempt.job);
    await checkJob(attempt, setupStep, commit);
    const tool = await resolveTool(attempt, setupStep, {
      ...planned,
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

/**
 * Runs the commands with which a driver looks at the code before it answers questions about it, within a step that
 * has started.
 * @returns what the commands have captured; empty for a driver that needs to see no more than the files
 * @throws RunFailure if one of them fails
 */
export async function inspectCode(
  attempt: RunnerAttempt,
  step: string,
  facts: Pick<ConfigurationFacts, 'tool' | 'commit'>,
): Promise<ReadCaptures> {
  const captures: Captures = new Map();
  const { inspect } = attempt.driver;
  if (inspect === undefined) return captures;
  const described = describeConfiguration(attempt, { ...facts, isStateOurs: false });
  const configuration = { ...described, written: { secret: [], sha256: '' } };
  for (const command of inspect.commands(described.context))
    await runOne(attempt, configuration, { ...command, step }, captures);
  const seen = { ...described.context, inspected: captures };
  for (const [name, found] of await asRunFailure(() => inspect.findings(seen))) captures.set(name, found);
  return captures;
}

/** Captures in a form that JSON has. */
export function writeCaptures(captures: ReadCaptures): Record<string, string> {
  return Object.fromEntries(
    [...captures].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  );
}

export function readCaptures(written: Readonly<Record<string, string>>): ReadCaptures {
  return new Map(Object.entries(written).map(([name, text]) => [name, Buffer.from(text, 'base64')]));
}
