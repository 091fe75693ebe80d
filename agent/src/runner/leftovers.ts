/** What a run left whose runner is gone: its last state, and what its tool had begun. */
import { existsSync } from 'node:fs';
import type { Job, Outcome } from '#protocol/messages.ts';
import { deploymentSteps, type RunnableTool } from '#protocol/steps.ts';
import { closeWorkFolder, removeWorkFolder, workFolderPaths } from '../slots/work-folder.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { takeReading } from './attempt.ts';
import { configurationFolderOf, statelessContext } from './configuration.ts';
import { ProgressFollower, unrecorded } from './follow-progress.ts';
import { StateFollower } from './follow-state.ts';
import type { Drivers } from './run-phase.ts';
import { TreeClient } from './tree-client.ts';

export interface LeftBehind {
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly workFolder: string;
  readonly slotUid: number | null;
}

/**
 * Copies the newest state into the spool and says what is known of the world. Call it once every process of the run has ended; safe
 * to be called again. Nothing is started.
 * @returns facts for the outcome
 */
export async function findLeftovers(left: LeftBehind, drivers: Drivers): Promise<Partial<Outcome>> {
  const { paths, job, workFolder, slotUid } = left;
  const facts: Partial<Outcome> = {};
  const driver = drivers[job.tool];
  const folders = workFolderPaths(workFolder, job);
  if (driver === undefined) return facts;
  if (!existsSync(paths.mark)) {
    removeWorkFolder(folders);
    return facts;
  }
  await using tree = new TreeClient(slotUid);
  const context = { ...statelessContext({ job, folders, tree }, job.approved?.parts.commit ?? ''), stateFolder: folders.state };
  const hasFolders = existsSync(folders.state);
  const follower = new StateFollower({
    spool: paths, driver, stateFolder: folders.state, stateFile: driver.stateFile(context), tree: () => tree,
    configurationFolder: configurationFolderOf({ job, folders }),
  });
  const state = hasFolders ? await follower.takeLast() : follower.latest;
  if (state !== null) takeReading({ facts }, state);
  const seen = new Map([...changingSteps(job)].flatMap((step) => [...readProgress(paths.stepLog(step), driver.progress(context))]));
  if (state !== null || seen.size > 0) facts.unrecorded = unrecorded(seen, state);
  if (state?.isNew === true) removeWorkFolder(folders);
  else closeWorkFolder(folders);
  return facts;
}

function changingSteps(job: Job): string[] {
  return deploymentSteps(job.tool as RunnableTool, job.type).filter((step) => /:(apply|destroy)$/.test(step));
}

function readProgress(log: string, reader: ConstructorParameters<typeof ProgressFollower>[2]): ProgressFollower['seen'] {
  using progress = new ProgressFollower(log, 0, reader, () => {});
  progress.read();
  return progress.seen;
}
