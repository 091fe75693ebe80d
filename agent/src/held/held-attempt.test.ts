import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { ServerRefusal } from '../connection/refusals.ts';
import { ProcessLauncher } from '../launchers/process.ts';
import { identifyProcess } from '../processes/proc.ts';
import { spoolPaths } from '../spool/layout.ts';
import { HeldAttempt } from './held-attempt.ts';

test('a hanging runner is killed some time after a request to stop', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attempt-'));
  const hanging = spawn('sleep', ['1000'], { stdio: 'ignore' });
  t.after(() => {
    hanging.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  const paths = spoolPaths(folder);
  for (const one of [paths.steps, paths.states, paths.outputs]) mkdirSync(one);
  writeFileSync(
    paths.slot,
    JSON.stringify({ index: 0, uid: null, runner: identifyProcess(hanging.pid ?? 0) }),
  );
  const sent: Outcome[] = [];
  const connection = {
    finish: async (_: unknown, outcome: Outcome) => (sent.push(outcome), { next: null }),
  } as unknown as ServerConnection;
  const limits = {
    runSeconds: 60,
    abortSeconds: 0,
    offlineGraceSeconds: 60,
    stepLogBytes: 1000,
    travelBytes: 1000,
  };
  const job = {
    jobId: 'j',
    attempt: 1,
    fence: 1,
    environmentId: 'e',
    phase: 'plan',
    type: 'deploy',
    tool: 'terraform',
    state: {},
    secrets: [],
    limits,
  } as unknown as Job;
  const log = { info() {}, warn() {}, error: (data: object) => assert.fail(JSON.stringify(data)) };
  const { signal } = new AbortController();
  using launcher = new ProcessLauncher({
    logFile: join(folder, 'runner.log'),
    compileCacheFolder: folder,
    spareMilliseconds: 60_000,
    onFailure: (reason) => assert.fail(reason),
  });
  const attempt = new HeldAttempt({
    connection,
    launcher,
    paths,
    job,
    workFolder: folder,
    slotUid: null,
    isFresh: true,
    countRuns: () => 1,
    stopMilliseconds: 100,
    signal,
    log,
  });
  const completed = attempt.complete();
  await attempt.abort('gently');
  assert.deepEqual(await completed, { next: null, isAccepted: true });
  assert.deepEqual([hanging.signalCode, sent.map(({ isLost }) => isLost)], ['SIGKILL', [true]]);
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Reports an attempt that has ended, to a server that first refuses its outcome together with the rest. */
async function reportEnded(folder: string, name: string, signal: AbortSignal): Promise<WeakRef<Job>> {
  const paths = spoolPaths(join(folder, name));
  for (const one of [paths.steps, paths.states, paths.outputs]) mkdirSync(one, { recursive: true });
  const outcome: Outcome = { result: 'failed', finishedAt: new Date().toISOString() };
  writeFileSync(paths.outcome, JSON.stringify(outcome));
  let calls = 0;
  const connection = {
    report: async () => ({ events: 0, logs: {}, abort: null }),
    finish: async () => {
      calls += 1;
      if (calls === 1) throw new ServerRefusal('finish', 400, 'rest_incomplete', 'once more');
      return { next: null };
    },
  } as unknown as ServerConnection;
  const job = {
    jobId: name,
    attempt: 1,
    fence: 1,
    environmentId: 'e',
    phase: 'plan',
    type: 'deploy',
    tool: 'terraform',
    state: {},
    secrets: [name.repeat(100)],
    limits: {
      runSeconds: 60,
      abortSeconds: 0,
      offlineGraceSeconds: 60,
      stepLogBytes: 1000,
      travelBytes: 1000,
    },
  } as unknown as Job;
  const attempt = new HeldAttempt({
    connection,
    launcher: { runnerOf: () => assert.fail('there is no runner') },
    paths,
    job,
    workFolder: folder,
    slotUid: null,
    isFresh: true,
    countRuns: () => 1,
    signal,
    log: { info() {}, warn() {}, error: (data: object) => assert.fail(JSON.stringify(data)) },
  });
  assert.deepEqual(await attempt.complete(), { next: null, isAccepted: true });
  assert.ok(calls >= 1);
  return new WeakRef(job);
}

test('nothing of an attempt is left in the agent once it has been reported', async (t) => {
  const folder = temporaryFolder(t, 'attempts-');
  const { signal } = new AbortController();
  const jobs: WeakRef<Job>[] = [];
  for (let number = 0; number < 8; number += 1) jobs.push(await reportEnded(folder, `job-${number}`, signal));
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  const left = () => jobs.filter((job) => job.deref() !== undefined).length;
  for (const deadline = Date.now() + 10_000; left() > 0 && Date.now() < deadline; ) {
    // deref() keeps a job until the end of the turn.
    await delay(20);
    collectGarbage();
  }
  assert.equal(left(), 0);
});
