/** The disk of the spool folder becomes full while a tool changes resources. */
import assert from 'node:assert/strict';
import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { expectResult } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type Ran,
  type RunnerSetup,
  type Running,
  withTerraformAsRoot,
} from '../../../testing/runner-setup.ts';
import { processesOf } from '../../processes/end-processes.ts';
import { textOrEmpty } from '../../processes/proc.ts';
import type { RunLimits } from '../../processes/run-limits.ts';

const megabyte = 1024 * 1024;
const limits = (reserveMegabytes: number): RunLimits => ({
  processes: 2048,
  openFiles: 16_384,
  fileBytes: 1024 * megabyte,
  memoryBytes: 8192 * megabyte,
  diskBytes: 1024 * megabyte,
  reserveBytes: reserveMegabytes * megabyte,
});

const freeOf = (folder: string) => statfsSync(folder).bavail * statfsSync(folder).bsize;

/** Leaves only so much of the spool's disk. @returns the file that takes the rest */
function fill({ folder }: RunnerSetup, leftBytes: number): string {
  const file = join(folder, 'spool', 'ballast');
  try {
    writeFileSync(file, Buffer.alloc(Math.max(0, freeOf(join(folder, 'spool')) - leftBytes), 1));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
  return file;
}

function addressesIn(state: Buffer | null): string[] {
  const { resources } = JSON.parse(state?.toString() ?? '{"resources":[]}') as {
    resources: { name: string; instances: unknown[] }[];
  };
  return resources.flatMap(({ name, instances }) => instances.map(() => name));
}

/** It ended after one interrupt, with its state written. */
function checkInterrupted(setup: RunnerSetup, ran: Ran): void {
  const { outcome } = ran;
  assert.equal(outcome.result, 'failed', JSON.stringify(outcome));
  assert.match(
    outcome.error?.message ?? '',
    /^the disk is full: the spool folder \S+ has \d+ MB left, and \d+ MB are kept free; .*ENVARIUM_RUN_DISK_RESERVE_MB\)\. Free some space/,
  );
  const end = ran.events.find((event) => event.kind === 'process' && event.label === 'terraform apply');
  assert.deepEqual(
    [end?.kind === 'process' && end.exitCode, end?.kind === 'process' && end.signal],
    [1, null],
    'it was not killed',
  );
  assert.match(stripVTControlCharacters(ran.log('tf:apply')), /Interrupt received/);
  assert.equal(outcome.resourceCount, addressesIn(setup.newestState(ran)).length);
  assert.ok(freeOf(ran.spool.folder) > 0);
}

test(
  'a run whose log fills the disk of the spool folder is interrupted once, with its state',
  withTerraformAsRoot,
  async (t) => {
    const line = `yes ${'x'.repeat(1000)} | head -c 100000`;
    const code = `resource "terraform_data" "first" {}
resource "terraform_data" "noisy" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "while :; do ${line}; sleep 0.1; done" }
}
`;
    const setup = createSetup(t, { 'main.tf': code }, { spoolMegabytes: 48 });
    const planned = await setup.run(setup.job());
    fill(setup, 36 * megabyte);
    const ran = await setup.run(setup.applyJob(planned), { order: { runLimits: limits(32) } });
    checkInterrupted(setup, ran);
    assert.deepEqual(addressesIn(setup.newestState(ran)), ['first', 'noisy'], 'the noisy one as tainted');
  },
);

test(
  'a run whose states fill the disk of the spool folder is interrupted once, with the last of them',
  withTerraformAsRoot,
  async (t) => {
    const count = 14;
    const code = `resource "terraform_data" "large" {
  count = ${count}
  input = format("%0${400_000}d", count.index)
  provisioner "local-exec" { command = "sleep 0.3" }
}
`;
    const serially = [{ name: 'TF_CLI_ARGS_apply', value: '-parallelism=1', isSensitive: false }];
    const setup = createSetup(t, { 'main.tf': code }, { spoolMegabytes: 128 });
    const planned = await setup.run(setup.job({ variables: { environment: serially, terraform: [] } }));
    const reserve = 24;
    fill(setup, (reserve + 12) * megabyte);
    const ran = await setup.run(setup.applyJob(planned), { order: { runLimits: limits(reserve) } });
    checkInterrupted(setup, ran);
    const stored = addressesIn(setup.newestState(ran)).length;
    assert.ok(stored >= 2 && stored < count, String(stored));
    const known = ran.events.filter((event) => event.kind === 'resource' && event.status === 'done').length;
    assert.ok(stored >= known, 'what was created is in the state');
    assert.deepEqual(ran.outcome.unrecorded, []);
  },
);

/** Waits until the tool has ended and the runner has tried at least twice to copy its state. */
async function untilTried({ slotUid }: RunnerSetup, { spool, until }: Running): Promise<void> {
  const isRunning = () =>
    processesOf(slotUid ?? 0).some((pid) => textOrEmpty(`/proc/${pid}/comm`) === 'terraform\n');
  await until(() => !isRunning(), 'the end of the tool');
  const moments = new Set<number>();
  // Each try creates a file and removes it.
  await until(() => moments.add(statSync(spool.states).mtimeMs).size > 4, 'the tries');
}

test(
  'a run that ends on a full disk keeps its state, events and outcome until there is space',
  withTerraformAsRoot,
  async (t) => {
    const code = `resource "terraform_data" "first" {
  provisioner "local-exec" { command = "touch began; until [ -e gate ]; do sleep 0.05; done" }
}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
}
`;
    const setup = createSetup(t, { 'main.tf': code }, { spoolMegabytes: 32 });
    const planned = await setup.run(setup.job());
    const running = setup.start(setup.applyJob(planned), { order: { runLimits: limits(0) } });
    const tree = join(setup.workFolder, planned.job.environmentId, 'tree');
    await running.until(() => existsSync(join(tree, 'began')), 'the apply');
    const ballast = fill(setup, 0);
    writeFileSync(join(tree, 'gate'), '');
    await untilTried(setup, running);
    assert.ok(!existsSync(running.spool.outcome));
    rmSync(ballast);
    const ran = await expectResult('applied', running.ended);
    assert.deepEqual(addressesIn(setup.newestState(ran)), ['first', 'second']);
    assert.equal(ran.outcome.resourceCount, 2);
    assert.equal(ran.steps()['tf:apply'], 'SUCCESS');
    assert.deepEqual(
      ran.events.flatMap((event) =>
        event.kind === 'resource' && event.status === 'done' ? [event.name] : [],
      ),
      ['first', 'second'],
    );
  },
);
