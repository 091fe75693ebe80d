/**
 * The only phase of a task: runs a person's shell commands in the folder of the configuration, which is
 * cloned and initialized as for a plan. Changes to the state are followed and stored as in an apply.
 */
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { programFacts } from '#protocol/tools/index.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { type CommandEnd, endRest, failureOf, runCommand } from '../../attempt/run-command.ts';
import { RunFailure } from '../../processes/failure.ts';
import {
  findKnownProgram,
  findProgram,
  programsOfPackage,
  requireProgram,
} from '../../processes/programs.ts';
import { removeOwnWorkFolder } from '../../slots/work-folder-owner.ts';
import { readableTo } from '../commands/run-commands.ts';
import { type RunnerAttempt, stateFacts } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { PhaseEnd } from './phase-end.ts';
import { prepareConfiguration } from './prepare-configuration.ts';
import { type ChangingCommandResult, copyLastState, followState } from './run-changing-command.ts';
import { storeMark } from './store-mark.ts';
import { storeState } from './store-state.ts';

const step = 'task:run';
const label = 'task';
const scriptName = 'envarium-task.sh';

/** @throws RunFailure if a step fails; a state that the task left is in the spool nevertheless */
export async function taskPhase(attempt: RunnerAttempt): Promise<PhaseEnd> {
  if (attempt.job.taskPayload === undefined)
    throw new RunFailure('the task has no commands', { result: 'internal' });
  const { configuration } = await prepareConfiguration(attempt);
  const changed = await taskStep(attempt, configuration);
  storeState(attempt, configuration, changed.state);
  return { result: 'applied', endWorkFolder: () => removeOwnWorkFolder(attempt.folders, attempt.job) };
}

/** @throws RunFailure if the task fails; the state that it left is stored nevertheless */
async function taskStep(
  attempt: RunnerAttempt,
  configuration: Configuration,
): Promise<ChangingCommandResult> {
  let changed: ChangingCommandResult | undefined;
  try {
    return await attempt.steps.run(step, async () => {
      const left = (changed = await runTask(attempt, configuration));
      if (left.failure !== null) throw left.failure;
      return left;
    });
  } catch (error) {
    if (changed !== undefined) storeState(attempt, configuration, changed.state);
    throw error;
  }
}

async function runTask(attempt: RunnerAttempt, configuration: Configuration): Promise<ChangingCommandResult> {
  const commands = attempt.job.taskPayload ?? '';
  attempt.steps.log(step, commands.trimEnd().replaceAll(/^/gm, '> '));
  await attempt.tree.write(
    attempt.folders.temporary,
    scriptName,
    commands.endsWith('\n') ? commands : `${commands}\n`,
  );
  for (const { name, content } of attempt.driver.state?.file?.taskFiles(configuration.context) ?? [])
    await attempt.tree.write(configuration.context.configurationFolder, name, content);
  makePrograms(attempt, configuration);
  await storeMark(attempt);
  await using follower = followState(attempt, configuration);
  await follower?.start();
  const end = await startShell(attempt, configuration);
  // Background processes of a task end with it, before its last state is read.
  await endRest(attempt);
  const state = follower === null ? null : await copyLastState(attempt, follower);
  if (state !== null) attempt.facts.add(stateFacts(attempt.job, state));
  const isGood = end.exitCode === 0 && end.stop === null;
  return { state, failure: isGood ? null : failureOf(attempt, end, label, () => null) };
}

/**
 * Links the tool, its companions and the other programs of their package under their own names for the task's PATH:
 * a file may have another name and unrelated neighbours. What a run needs was found when the tool was; the rest may be missing.
 */
function makePrograms(attempt: AttemptContext, { tool }: Configuration): void {
  const { programs } = attempt.folders;
  mkdirSync(programs);
  chmodSync(programs, 0o755);
  const found = new Map<string, string>();
  for (const name of attempt.driver.programs) {
    // A role of the agent's program has no command line for people.
    if (programFacts(name)?.ownVersion !== undefined) continue;
    const path = findKnownProgram(name, tool.paths);
    if (path !== null) found.set(name, path);
  }
  for (const other of [...found].flatMap(([name, path]) => programsOfPackage(name, path)))
    if (!found.has(basename(other))) found.set(basename(other), other);
  for (const [name, path] of found) symlinkSync(path, join(programs, name));
}

async function startShell(attempt: RunnerAttempt, configuration: Configuration): Promise<CommandEnd> {
  const bash = findProgram('bash');
  const program = bash ?? requireProgram('sh');
  const { environment } = configuration;
  return runCommand(attempt, {
    step,
    label,
    name: basename(program),
    program,
    // The first command that fails ends the task.
    args: [
      ...(bash === null ? ['-e'] : ['-e', '-o', 'pipefail']),
      '--',
      join(attempt.folders.temporary, scriptName),
    ],
    cwd: configuration.context.configurationFolder,
    environment: { ...environment, PATH: `${attempt.folders.programs}:${environment['PATH'] ?? ''}` },
    interrupts: 'all',
    isInterruptedOnce: true,
    readable: readableTo(attempt, configuration),
  });
}
