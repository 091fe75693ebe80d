/**
 * For tests of a part of an attempt: in folders as the runner prepares them, with commands that run as the user of the
 * tests, without a sandbox. Tests of whole runs have `runner-setup.ts`.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { EventLog } from '../src/attempt/event-log.ts';
import { FactCollector } from '../src/attempt/fact-collector.ts';
import { StepRecorder } from '../src/attempt/step-recorder.ts';
import { Diagnostics } from '../src/drivers/interface/diagnostics.ts';
import type { Driver } from '../src/drivers/interface/driver.ts';
import { StopWatch } from '../src/processes/stop-watch.ts';
import type { RunnerAttempt } from '../src/runner/commands/runner-attempt.ts';
import { TreeLender } from '../src/runner/tree/tree-lender.ts';
import { forceRemoveSync } from '../src/slots/remove-folder.ts';
import { createWorkFolder, workFolderPaths } from '../src/slots/work-folder.ts';
import { spoolPaths } from '../src/spool/layout.ts';
import { jobOf } from './driver-job.ts';

/**
 * @param driver the capabilities that the tested part needs
 * @returns an attempt that ends with the test
 */
export function openAttempt(
  t: TestContext,
  driver: Partial<Driver> = {},
  changes: Partial<Job> = {},
): RunnerAttempt {
  const folder = mkdtempSync(join(tmpdir(), 'attempt-'));
  const job = jobOf(changes);
  const spool = spoolPaths(join(folder, 'spool'));
  for (const each of [spool.inputs, spool.steps, spool.states, spool.outputs, spool.scratch])
    mkdirSync(each, { recursive: true, mode: 0o700 });
  const workFolder = join(folder, 'work');
  const folders = workFolderPaths(workFolder, job);
  createWorkFolder(folders, null);
  const isolation = { bubblewrap: null, seccompFile: null, readable: [], hidden: [], isOffline: false };
  const order = { attemptFolder: spool.folder, workFolder, slotUid: null, toolPaths: {}, isolation };
  const events = new EventLog(spool.events);
  const stop = new StopWatch(spool, job.limits, job.type);
  const lender = new TreeLender();
  const tree = lender.lend(order, folders);
  t.after(async () => {
    await tree[Symbol.asyncDispose]();
    await lender[Symbol.asyncDispose]();
    stop[Symbol.dispose]();
    events[Symbol.dispose]();
    forceRemoveSync(folder);
  });
  return {
    job,
    path: '',
    environment: {},
    leftOut: [],
    order,
    spool,
    folders,
    driver: { reason: () => null, ...driver } as Driver,
    stop,
    events,
    steps: new StepRecorder(spool, events, stop),
    diagnostics: new Diagnostics(),
    facts: new FactCollector(),
    tree,
    providers: null,
  };
}
