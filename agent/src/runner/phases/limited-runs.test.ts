import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureMessageOf } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type RunnerSetup,
  withBubblewrap,
  withTerraformAsRoot,
} from '../../../testing/runner-setup.ts';
import { processesIn, processesOf } from '../../processes/end-processes.ts';
import { findProgram } from '../../processes/programs.ts';
import type { RunLimits } from '../../processes/run-limits.ts';

const megabyte = 1024 * 1024;
const generous: RunLimits = {
  processes: 2048,
  openFiles: 16_384,
  fileBytes: 1024 * megabyte,
  memoryBytes: 8192 * megabyte,
  diskBytes: 1024 * megabyte,
  reserveBytes: 0,
};

const attacks: readonly {
  name: string;
  command: string;
  limits: Partial<RunLimits>;
  needs?: string;
  expected: RegExp;
}[] = [
  {
    name: 'starts processes without end',
    command: 'bomb() { bomb | bomb & }; bomb; sleep 100',
    limits: { processes: 150 },
    // The tool may be the first to miss a thread.
    expected: /150 (processes and threads|are allowed).*\(setting ENVARIUM_RUN_PROCESS_LIMIT\)/,
  },
  {
    name: 'takes memory in many processes',
    command:
      'for i in 1 2 3 4 5 6 7 8; do python3 -c "import time; x = bytearray(60 << 20); time.sleep(100)" & done; wait',
    limits: { memoryBytes: 300 * megabyte },
    needs: 'python3',
    expected: /MB of memory, and 300 MB are allowed; it was stopped \(setting ENVARIUM_RUN_MEMORY_LIMIT_MB\)/,
  },
  {
    name: 'fills its work folder',
    command: 'for i in 1 2 3 4 5 6; do head -c 50000000 /dev/zero > $HOME/$i; sync $HOME/$i; done; sleep 100',
    limits: { diskBytes: 100 * megabyte },
    expected: /work folder of the run has .* MB, and 100 MB are allowed; .*ENVARIUM_RUN_DISK_LIMIT_MB/,
  },
  {
    name: 'writes one file without end',
    command: 'head -c 200000000 /dev/zero > $HOME/large',
    limits: { fileBytes: 100 * megabyte },
    expected: /exit status|File size limit/,
  },
];

function leftOver(setup: RunnerSetup): number[] {
  return setup.slotUid === null ? processesIn(setup.workFolder) : processesOf(setup.slotUid);
}

for (const user of ['root', 'ordinary'] as const)
  for (const { name, command, limits, needs, expected } of attacks)
    test(`a run that ${name} is stopped with the reason, with an agent of ${user}`, {
      skip:
        (user === 'root' ? withTerraformAsRoot.skip : withBubblewrap.skip) ||
        (needs !== undefined && findProgram(needs) === null ? `needs ${needs}` : false),
    }, async (t) => {
      const code = `resource "terraform_data" "hostile" {
  provisioner "local-exec" { command = ${JSON.stringify(command)} }
}`;
      const setup = createSetup(t, { 'main.tf': code }, { asOrdinaryUser: user === 'ordinary' });
      const planned = await setup.run(setup.job());
      const startedAt = performance.now();
      const ran = await setup.run(setup.applyJob(planned), {
        order: { runLimits: { ...generous, ...limits } },
      });
      assert.match(failureMessageOf(ran), expected);
      assert.ok(performance.now() - startedAt < 60_000);
      assert.deepEqual(leftOver(setup), []);
    });

const logAttacks = [
  {
    what: 'shortens',
    line: 'os.ftruncate(1, 0)',
    expected: /task:run shortened its own log, .* and was stopped/,
  },
  {
    what: 'extends',
    line: 'os.ftruncate(1, 3 << 30)',
    expected: /task:run extended its own log without printing, and was stopped/,
  },
  {
    what: 'shortens at its very end',
    line: 'os.write(1, b"hidden\\n"); os.ftruncate(1, 0)',
    isLast: true,
    expected: /task:run shortened its own log, which is no longer complete/,
  },
  {
    what: 'replaces at its very end',
    line: 'os.ftruncate(1, 0); os.write(1, b"another output\\n")',
    isLast: true,
    // The moment of detection varies.
    expected: /task:run (overwrote|shortened) its own log, which is no longer complete/,
  },
];

for (const user of ['root', 'ordinary'] as const)
  for (const { what, line, isLast, expected } of logAttacks)
    test(`a task that ${what} its own log is stopped with the reason, with an agent of ${user}`, {
      skip:
        (user === 'root' ? withTerraformAsRoot.skip : withBubblewrap.skip) ||
        (findProgram('python3') === null ? 'needs python3' : false),
    }, async (t) => {
      const setup = createSetup(t, { 'main.tf': '' }, { asOrdinaryUser: user === 'ordinary' });
      const taskPayload = `echo output; sleep 2.5; python3 -c 'import os; ${line}'${isLast === true ? '' : '; sleep 100'}`;
      const ran = await setup.run(setup.job({ type: 'task', taskPayload }));
      assert.match(failureMessageOf(ran), expected);
    });
