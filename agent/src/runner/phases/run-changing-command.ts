/**
 * Runs the one command of a phase that changes resources: a mark is stored before it starts, and its state
 * and progress are followed while it runs.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { endRest, sizeOf } from '../../attempt/run-command.ts';
import type { Command } from '../../drivers/interface/command.ts';
import type { ProgressEvent } from '../../drivers/interface/driver.ts';
import { type OutcomeFacts, RunFailure } from '../../processes/failure.ts';
import { requireProgram } from '../../processes/programs.ts';
import { keptFolder } from '../../slots/work-folder.ts';
import { requireOwn } from '../../slots/work-folder-owner.ts';
import type { ProgressPlace } from '../../spool/read-attempt.ts';
import { resourceLimits, withShortTexts } from '../../spool/resource-events.ts';
import { recordedIn, unrecordedResources } from '../../spool/unrecorded-resources.ts';
import { type Captures, collect, findLines, writeNeeded } from '../commands/command-files.ts';
import { type CommandInput, failed, isGood, startOne } from '../commands/run-commands.ts';
import { type RunnerAttempt, stateFacts } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { StateFollower } from '../state/follow-state.ts';
import type { KnownState } from '../state/spooled-states.ts';
import { ProgressFollower, spoolSource, treeSource } from './follow-progress.ts';
import { storeMark } from './store-mark.ts';

/** The result of a changing command. */
export interface ChangingCommandResult {
  /** Null if the service does not store the state. */
  readonly state: KnownState | null;
  /** Null if it succeeded. */
  readonly failure: RunFailure | null;
}

export interface ChangingOptions {
  readonly input: CommandInput;
  /** Earlier captures. */
  readonly captures: Captures;
  /** Whether the command has already been run and is known to have failed. */
  readonly isRepeated: boolean;
}

/** @throws RunFailure if it was not started */
export async function runChangingCommand(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  { input, captures, isRepeated }: ChangingOptions,
): Promise<ChangingCommandResult> {
  requireProgram(command.program, configuration.tool.paths);
  requireOwn(attempt.folders, attempt.job);
  if (isRepeated) await removeEvents(attempt, command);
  await using progress = followProgress(attempt, command);
  await storeMark(attempt, isRepeated);
  progress?.start();
  await using follower = followState(attempt, configuration);
  await follower?.start();
  await writeNeeded(attempt, command, captures);
  const log = attempt.spool.stepLog(command.step);
  const from = sizeOf(log);
  const captureTo =
    command.captureTo === undefined ? undefined : attempt.spool.scratchFile(command.captureTo);
  const end = await startOne(attempt, configuration, command, { input, captureTo });
  // Processes left by the command could continue to write while its files are read.
  await endRest(attempt);
  await collect(attempt, command, captures).catch(() => undefined);
  await findLines(command, log, from, captures);
  const state = follower === null ? null : await copyLastState(attempt, follower);
  // A run may damage its own progress file; its end is recorded nevertheless.
  await progress?.readRest().catch(() => undefined);
  if (state !== null) attempt.facts.add(stateFacts(attempt.job, state));
  if (!isGood(end, command)) {
    const unrecorded = follower === null || progress === null ? [] : unrecordedIn(attempt, progress, state);
    attempt.facts.add({ unrecorded });
    return { state, failure: failed(attempt, end, command, captures) };
  }
  const several = attempt.driver.state?.file?.several?.(configuration.context);
  const isKept = (address: string) => several?.keeps(address) ?? true;
  if (follower === null || progress?.hasChanged(isKept) !== true) return { state, failure: null };
  if (progress.hasChanged((address) => isKept(address) && !follower.hasWritten(address)))
    return { state, failure: lostState(attempt, command) };
  if (state?.isNew === true) return { state, failure: null };
  if (!follower.isWritten) return { state, failure: lostState(attempt, command) };
  attempt.facts.add({ isStateSame: true });
  return { state, failure: null };
}

function lostState({ folders, job }: AttemptContext, { label }: Command): RunFailure {
  return new RunFailure(
    `${label} reported changes but left no newer state; its folder is kept at ${keptFolder(folders, job)}`,
    { result: 'internal', failedCommand: label },
  );
}

function unrecordedIn(
  { driver, spool }: AttemptContext,
  progress: ProgressFollower,
  state: KnownState | null,
): OutcomeFacts['unrecorded'] {
  const before = existsSync(spool.inputState) ? driver.state?.read(readFileSync(spool.inputState)) : null;
  return unrecordedResources(progress.seen, recordedIn(state), before ?? null);
}

/** Reports of the failed command do not apply to the next one. */
async function removeEvents({ tree }: AttemptContext, { eventFile }: Command): Promise<void> {
  if (eventFile !== undefined) await tree.remove(dirname(eventFile), basename(eventFile));
}

const tooManyEvents = `the run has reported more than ${resourceLimits.events} changes of resources, or very long ones: further ones are not shown while they are made`;

/** Follows the tool's progress; null if its driver cannot read any. */
function followProgress(attempt: AttemptContext, { step, eventFile }: Command): ProgressFollower | null {
  const { progress } = attempt.driver;
  if (progress === undefined) return null;
  const { secrets } = attempt.job;
  const emit = (event: ProgressEvent) => {
    if (attempt.events.appendResource({ kind: 'resource', ...event }))
      attempt.steps.warn(step, tooManyEvents);
  };
  const events = eventFile === undefined ? undefined : progress.fromFile?.();
  const log = attempt.spool.stepLog(step);
  const offset = sizeOf(log);
  const place: ProgressPlace = { step, offset, ...(events === undefined ? {} : { eventFile }) };
  writeFileSync(attempt.spool.progress, JSON.stringify(place), { mode: 0o600 });
  if (eventFile !== undefined && events !== undefined)
    return new ProgressFollower(
      treeSource(attempt.tree, eventFile),
      0,
      withShortTexts(events, secrets),
      emit,
    );
  return new ProgressFollower(spoolSource(log), offset, withShortTexts(progress.fromLog(), secrets), emit);
}

/** Follows the file of the state; null if the service does not store it, or the tool writes none. */
export function followState(attempt: AttemptContext, configuration: Configuration): StateFollower | null {
  const { context } = configuration;
  const { state } = attempt.driver;
  if (context.stateFolder === null || state?.file === undefined) return null;
  return new StateFollower({
    spool: attempt.spool,
    state: { read: (bytes) => state.read(bytes), rescueFile: state.file.rescueFile },
    stateFolder: context.stateFolder,
    stateFile: state.file.fileName(context),
    several: state.file.several?.(context) ?? null,
    configurationFolder: context.configurationFolder,
    tree: attempt.tree,
  });
}

/** Copies the last state; if that fails, once more after the run's processes have ended, with a new reader. */
export async function copyLastState(
  attempt: AttemptContext,
  follower: StateFollower,
): Promise<KnownState | null> {
  try {
    return await follower.copyLast();
  } catch {
    await endRest(attempt);
    await attempt.tree.restart();
    return follower.copyLast();
  }
}
