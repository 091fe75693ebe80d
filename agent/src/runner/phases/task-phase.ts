/**
 * The only phase of a task: a person's shell commands in the folder of the configuration, which is cloned and
 * initialised like a plan's, with the state in its place. What the commands do to the state is followed and
 * kept as in an apply.
 */
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { processesWriting } from '../../processes/processes-holding.ts';
import { endProcessesOf } from '../../processes/end-processes.ts';
import { removeWorkFolder } from '../../slots/work-folder.ts';
import { storeState } from './apply-phase.ts';
import {
  type Attempt,
  type CommandEnd,
  failureOf,
  inStep,
  runCommand,
  say,
  takeReading,
} from '../attempt.ts';
import { followState, storeMark, takeLastState } from './change-world.ts';
import type { Configuration } from './configuration.ts';
import type { KnownState } from '../state/follow-state.ts';
import { RunFailure } from '../../processes/failure.ts';
import { type PhaseEnd, prepareConfiguration } from './plan-phase.ts';
import { findProgram, requireProgram } from '../../processes/programs.ts';
import { inSandbox } from '../run-commands.ts';
import { TreeClient } from '../tree/tree-client.ts';

const step = 'task:run';
const label = 'task';
const scriptName = 'envarium-task.sh';

/** @throws RunFailure when something says no; the state that the task left is in the spool then too */
export async function taskPhase(attempt: Attempt): Promise<PhaseEnd> {
  if (attempt.job.taskPayload === undefined)
    throw new RunFailure('the task has no commands', { result: 'internal' });
  const configuration = await prepareConfiguration(attempt);
  const state = await inStep(attempt, step, () => runTask(attempt, configuration));
  await storeState(attempt, configuration, state);
  return { result: 'applied', settle: () => removeWorkFolder(attempt.folders) };
}

async function runTask(attempt: Attempt, configuration: Configuration): Promise<KnownState | null> {
  const commands = attempt.job.taskPayload ?? '';
  say(attempt, step, commands.trimEnd().replaceAll(/^/gm, '> '));
  await attempt.tree.write(
    attempt.folders.temporary,
    scriptName,
    commands.endsWith('\n') ? commands : `${commands}\n`,
  );
  for (const { name, content } of attempt.driver.taskFiles?.(configuration.context) ?? [])
    await attempt.tree.write(configuration.context.configurationFolder, name, content);
  makePrograms(attempt);
  await storeMark(attempt);
  await using follower = followState(attempt, configuration);
  follower?.start();
  const end = await startShell(attempt, configuration);
  await endRest(attempt);
  const state = follower === null ? null : await takeLastState(attempt, follower);
  if (state !== null) takeReading(attempt, state);
  if (end.exitCode === 0 && end.stop === null) return state;
  throw failureOf(attempt, end, label, () => null);
}

/**
 * The tool under its own name, for the PATH of the task: its file may be called otherwise, and others may lie
 * beside it.
 */
function makePrograms(attempt: Attempt): void {
  const { programs } = attempt.folders;
  mkdirSync(programs);
  chmodSync(programs, 0o755);
  for (const name of attempt.driver.programs)
    symlinkSync(requireProgram(name, attempt.toolPaths), join(programs, name));
}

async function startShell(attempt: Attempt, configuration: Configuration): Promise<CommandEnd> {
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
    ...(await inSandbox(attempt)),
  });
}

/** What a task has sent into the background ends with it, before its last state is read. */
async function endRest(attempt: Attempt): Promise<void> {
  const { slotUid } = attempt.order;
  if (slotUid === null) {
    for (const pid of processesWriting(attempt.spool.steps)) killQuietly(pid);
    return;
  }
  await endProcessesOf(slotUid);
  // It had the same uid.
  await attempt.tree[Symbol.asyncDispose]();
  attempt.tree = new TreeClient(slotUid);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
