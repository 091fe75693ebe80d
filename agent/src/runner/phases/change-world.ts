/**
 * The one command of a phase that changes the world: marked before it starts, its state and its progress
 * followed while it runs.
 */
import { randomBytes } from 'node:crypto';
import { watchFolders } from '../../ship/wake.ts';
import { endProcessesOf } from '../../processes/end-processes.ts';
import { keptFolder } from '../../slots/work-folder.ts';
import { readMark, readStoredMark, type StartMark } from '../../spool/read-attempt.ts';
import { writeJsonDurably } from '../../spool/write-file.ts';
import type { RunEvent } from '#protocol/messages.ts';
import type { Command, ProgressEvent } from '../../drivers/driver.ts';
import { unrecordedResources } from '../../spool/unrecorded.ts';
import { type Attempt, failureOf, sizeOf, takeReading } from '../attempt.ts';
import type { Configuration } from './configuration.ts';
import { RunFailure } from '../../processes/failure.ts';
import { ProgressFollower, spoolSource, treeSource } from './follow-progress.ts';
import { type KnownState, StateFollower } from '../state/follow-state.ts';
import { requireProgram } from '../../processes/programs.ts';
import { isGood, startOne } from '../run-commands.ts';
import { TreeClient } from '../tree/tree-client.ts';

const markPollMilliseconds = 250;

/**
 * @returns the state that the command left, null where the state is not ours
 * @throws RunFailure when it fails; the state that it left is in the spool then too
 */
export async function changeWorld(
  attempt: Attempt,
  configuration: Configuration,
  command: Command,
): Promise<KnownState | null> {
  requireProgram(command.program, attempt.toolPaths);
  await storeMark(attempt);
  await using progress = followProgress(attempt, configuration, command);
  progress.start();
  await using follower = followState(attempt, configuration);
  follower?.start();
  const end = await startOne(attempt, configuration, command);
  const state = follower === null ? null : await takeLastState(attempt, follower);
  // What a run has done to the file of its own progress is no reason to lose its end.
  await progress.takeLast().catch(() => undefined);
  if (state !== null) takeReading(attempt, state);
  if (!isGood(end, command)) {
    attempt.facts.unrecorded =
      follower === null
        ? []
        : unrecordedResources(
            progress.seen.map(asEvent),
            state?.isEncrypted ? null : (state?.resources ?? []),
          );
    throw failureOf(attempt, end, command.label, (output) => attempt.driver.lastDiagnostic(output));
  }
  if (follower !== null && progress.hasChanged && state?.isNew !== true) {
    throw new RunFailure(
      `${command.label} reported changes and left no newer state; its folder is kept at ${keptFolder(attempt.folders, attempt.job)}`,
      {
        result: 'internal',
        failedCommand: command.label,
      },
    );
  }
  return state;
}

/**
 * Writes the start mark durably and waits until the server has it: a command that changes the world never
 * starts twice, and one that is repeated after a known end has a mark of its own.
 */
export async function storeMark(attempt: Attempt): Promise<void> {
  const { spool, stop } = attempt;
  const before = readMark(spool)?.mark;
  const isRepeated = attempt.retryCount !== undefined;
  if (before !== undefined && !isRepeated) return;
  const mark = randomBytes(32).toString('hex');
  await writeJsonDurably(spool.mark, {
    mark,
    ...(before === undefined ? {} : { replaces: before }),
  } satisfies StartMark);
  await new Promise<void>((resolve) => {
    const done = () => {
      const stored = readStoredMark(spool);
      // That there is one says enough of the first: agents of an earlier version wrote nothing into the file.
      const isStored = isRepeated ? stored === mark : stored !== null;
      if (!isStored && stop.reason === null) return;
      clearInterval(timer);
      watching[Symbol.dispose]();
      silence();
      resolve();
    };
    const timer = setInterval(done, markPollMilliseconds);
    const watching = watchFolders([spool.folder], done);
    const silence = stop.onStop(() => setImmediate(done));
    setImmediate(done);
  });
  stop.throwIfStopped();
}

function followProgress(
  attempt: Attempt,
  configuration: Configuration,
  { step, eventFile }: Command,
): ProgressFollower {
  const emit = (event: ProgressEvent) => report(attempt, event);
  const events = attempt.driver.readEvents?.();
  if (eventFile !== undefined && events !== undefined)
    return new ProgressFollower(
      treeSource(() => attempt.tree, eventFile),
      0,
      events,
      emit,
    );
  const log = attempt.spool.stepLog(step);
  return new ProgressFollower(
    spoolSource(log),
    sizeOf(log),
    attempt.driver.progress(configuration.context),
    emit,
  );
}

/** Follows the state where it is ours. */
export function followState(attempt: Attempt, configuration: Configuration): StateFollower | null {
  const { context } = configuration;
  if (context.stateFolder === null) return null;
  return new StateFollower({
    spool: attempt.spool,
    driver: attempt.driver,
    stateFolder: context.stateFolder,
    stateFile: attempt.driver.stateFile(context),
    configurationFolder: context.configurationFolder,
    tree: () => attempt.tree,
  });
}

/**
 * The last state. A run may kill the process that reads for us, which has its uid; it is read all the same,
 * once the run's processes are gone.
 */
export async function takeLastState(attempt: Attempt, follower: StateFollower): Promise<KnownState | null> {
  try {
    return await follower.takeLast();
  } catch {
    const { slotUid } = attempt.order;
    if (slotUid !== null) await endProcessesOf(slotUid);
    await attempt.tree[Symbol.asyncDispose]();
    attempt.tree = new TreeClient(slotUid);
    return follower.takeLast();
  }
}

/** Tells of what happens to a resource. */
function report(attempt: Attempt, event: ProgressEvent): void {
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
