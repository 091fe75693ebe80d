import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { ProcessLauncher } from '../launchers/process.ts';
import { HeldAttempt } from './held-attempt.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { identifyProcess } from '../processes/process-identity.ts';
import { spoolPaths } from '../spool/layout.ts';

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
    takesRest: () => true,
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
