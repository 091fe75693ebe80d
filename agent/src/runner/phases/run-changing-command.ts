/**
 * The one command of a phase that changes the world: marked before it starts, its state and its progress
 * followed while it runs.
 */
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { endProcessesOf } from '../../processes/end-processes.ts';
import { keptFolder } from '../../slots/work-folder.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import type { Command, ProgressEvent } from '../../drivers/driver.ts';
import { unrecordedResources } from '../../spool/unrecorded-resources.ts';
import { failureOf, sizeOf } from '../../attempt/run-command.ts';
import type { Configuration } from './configuration.ts';
import { type OutcomeFacts, RunFailure } from '../../processes/failure.ts';
import { ProgressFollower, spoolSource, treeSource } from './follow-progress.ts';
import { type KnownState, StateFollower } from '../state/follow-state.ts';
import { storeMark } from './store-mark.ts';
import { requireProgram } from '../../processes/programs.ts';
import { isGood, startOne } from '../run-commands.ts';
import { type RunnerAttempt, stateFacts } from '../runner-attempt.ts';

/** What a changing command left. */
export interface Changed {
  /** Null where the state is not ours. */
  readonly state: KnownState | null;
  readonly facts: OutcomeFacts;
  /** Null where it succeeded. */
  readonly failure: RunFailure | null;
}

/**
 * @param isRepeated an earlier start of it has ended and is known to have failed
 * @throws RunFailure when it was not started
 */
export async function runChangingCommand(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
  isRepeated = false,
): Promise<Changed> {
  requireProgram(command.program, configuration.tool.paths);
  await storeMark(attempt, isRepeated);
  await using progress = followProgress(attempt, configuration, command);
  progress?.start();
  await using follower = followState(attempt, configuration);
  follower?.start();
  const end = await startOne(attempt, configuration, command);
  const state = follower === null ? null : await takeLastState(attempt, follower);
  // A run may damage the file of its own progress; its end is recorded all the same.
  await progress?.takeLast().catch(() => undefined);
  const facts = state === null ? {} : stateFacts(attempt.job, state);
  if (!isGood(end, command)) {
    const failure = failureOf(attempt, end, command.label, (output) => attempt.driver.lastDiagnostic(output));
    const unrecorded = follower === null || progress === null ? [] : unrecordedIn(progress, state);
    return { state, facts: { ...facts, unrecorded }, failure };
  }
  const isLost = follower !== null && progress?.hasChanged === true && state?.isNew !== true;
  return { state, facts, failure: isLost ? lostState(attempt, command) : null };
}

function lostState({ folders, job }: AttemptContext, { label }: Command): RunFailure {
  return new RunFailure(
    `${label} reported changes and left no newer state; its folder is kept at ${keptFolder(folders, job)}`,
    { result: 'internal', failedCommand: label },
  );
}

function unrecordedIn(progress: ProgressFollower, state: KnownState | null): OutcomeFacts['unrecorded'] {
  const resources = state?.isEncrypted ? null : (state?.resources ?? []);
  return unrecordedResources(progress.seen.map(asEvent), resources);
}

/** Follows what the tool says of its progress, where it says anything. */
function followProgress(
  attempt: AttemptContext,
  configuration: Configuration,
  { step, eventFile }: Command,
): ProgressFollower | null {
  const { progress } = attempt.driver;
  if (progress === undefined) return null;
  const emit = (event: ProgressEvent) => report(attempt, event);
  const events = eventFile === undefined ? undefined : progress.fromFile?.();
  if (eventFile !== undefined && events !== undefined)
    return new ProgressFollower(treeSource(attempt.tree, eventFile), 0, events, emit);
  const log = attempt.spool.stepLog(step);
  return new ProgressFollower(spoolSource(log), sizeOf(log), progress.fromLog(configuration.context), emit);
}

/** Follows the state where it is ours. */
export function followState(attempt: AttemptContext, configuration: Configuration): StateFollower | null {
  const { context } = configuration;
  const { state } = attempt.driver;
  if (context.stateFolder === null || state === undefined) return null;
  return new StateFollower({
    spool: attempt.spool,
    state,
    stateFolder: context.stateFolder,
    stateFile: state.fileName(context),
    configurationFolder: context.configurationFolder,
    tree: attempt.tree,
  });
}

/**
 * The last state. A run may kill the process that reads for us, which has its uid; it is read all the same,
 * once the run's processes are gone.
 */
export async function takeLastState(
  attempt: AttemptContext,
  follower: StateFollower,
): Promise<KnownState | null> {
  try {
    return await follower.takeLast();
  } catch {
    const { slotUid } = attempt.order;
    if (slotUid !== null) await endProcessesOf(slotUid);
    await attempt.tree.restart();
    return follower.takeLast();
  }
}

/** Tells of what happens to a resource. */
function report(attempt: AttemptContext, event: ProgressEvent): void {
  const { at, ...untimed } = asEvent(event);
  attempt.events.append(untimed);
}

/** Progress as an event without its time. */
function asEvent({
  address,
  provider,
  type,
  name,
  moduleName,
  status,
  action,
  id,
}: ProgressEvent): Extract<RunEvent, { kind: 'resource' }> {
  return {
    kind: 'resource',
    at: '',
    address,
    provider,
    type,
    name,
    moduleName,
    status,
    action,
    ...(id === undefined ? {} : { id }),
  };
}
