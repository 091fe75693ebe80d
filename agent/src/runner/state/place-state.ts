import { existsSync, readFileSync } from 'node:fs';
import { sha256 } from '#protocol/approved.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { RunFailure } from '../../processes/failure.ts';
import { placeFile } from '../../slots/work-folder.ts';
import { stateFilesOf } from '../configuration/configuration.ts';

/** Puts the current state where the tool expects it, before any process of the slot has started. */
export function placeState(attempt: AttemptContext): void {
  const { job, spool, folders, order, driver } = attempt;
  if (job.state.current === undefined || driver.state === undefined) return;
  if (!existsSync(spool.inputState))
    throw new RunFailure("the current state is missing in the attempt's folder", { result: 'internal' });
  const stored = readFileSync(spool.inputState);
  if (sha256(stored) !== job.state.current.sha256) {
    throw new RunFailure(
      "the state in the attempt's folder is not the current version: its checksum differs",
      { result: 'internal' },
    );
  }
  const { file } = driver.state;
  if (file === undefined) return;
  const problem = file.storedProblem?.(job, stored) ?? null;
  if (problem !== null) throw new RunFailure(problem);
  const { name, several } = stateFilesOf(attempt, file);
  for (const [part, content] of several?.split(stored) ?? [[name, stored]])
    placeFile(folders.state, part, content, order.slotUid);
}
