/** For tests: how long a run takes alone, and next to one that takes what it can of the machine. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { processesIn, processesOf } from '../src/processes/end-processes.ts';
import type { RunLimits } from '../src/processes/run-limits.ts';
import type { confinements } from './attacks.ts';
import { expectResult } from './outcomes.ts';
import { createSetup, type RunnerSetup } from './runner-setup.ts';

const megabyte = 1024 * 1024;
export const limits: RunLimits = {
  processes: 500,
  openFiles: 16_384,
  fileBytes: 1024 * megabyte,
  memoryBytes: 300 * megabyte,
  diskBytes: 1024 * megabyte,
  reserveBytes: 0,
};

/** @returns seconds of a plan */
export async function secondsOfPlan(setup: RunnerSetup): Promise<number> {
  const startedAt = performance.now();
  await expectResult('planned', setup.run(setup.job()));
  return (performance.now() - startedAt) / 1000;
}

export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/**
 * Applies a configuration that takes what it can.
 * @param whileItRuns called once the command has begun
 * @param reached what its log contains once it has reached its limit
 * @returns seconds from then to the end of all its processes
 */
export async function attackOnce(
  setup: RunnerSetup,
  reached: RegExp,
  whileItRuns: () => Promise<void>,
): Promise<number> {
  const running = setup.start(setup.applyJob(await setup.run(setup.job())), { order: { runLimits: limits } });
  const log = running.spool.stepLog('tf:apply');
  const text = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  let reachedAt: number | undefined;
  const timer = setInterval(() => {
    if (reached.test(text())) reachedAt ??= performance.now();
  }, 20);
  try {
    await running.until(() => text().includes('Provisioning'), 'the command to begin');
    await whileItRuns();
    const { outcome } = await expectResult('failed', running.ended);
    assert.match(outcome.error?.message ?? '', /ENVARIUM_RUN_(PROCESS|MEMORY)_LIMIT/);
  } finally {
    clearInterval(timer);
  }
  const left = setup.slotUid === null ? processesIn(setup.workFolder) : processesOf(setup.slotUid);
  assert.deepEqual(left, []);
  // It may be ended just before its limit.
  return reachedAt === undefined ? 0 : (performance.now() - reachedAt) / 1000;
}

/** A setup whose apply runs a command, and one of another tenant. */
export function neighbours(
  t: TestContext,
  { options }: (typeof confinements)[number],
  command: string,
): { attacker: RunnerSetup; neighbour: RunnerSetup } {
  const code = `resource "terraform_data" "hostile" {
  provisioner "local-exec" { command = ${JSON.stringify(command)} }
}\n`;
  const plain = 'resource "terraform_data" "it" {\n  count = 20\n}\n';
  return {
    attacker: createSetup(t, { 'main.tf': code }, options),
    neighbour: createSetup(t, { 'main.tf': plain }, options),
  };
}
