import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { agentSettings } from '#settings/agent.ts';
import { readProgramSettings, SettingsError } from '#settings/settings.ts';
import { slotUidBase } from '../../tools/programs/slot-uid-base.ts';
import { temporaryFolder } from '../../tools/suite/temporary-folder.ts';
import { confineRuns } from './confine-runs.ts';
import { type HostMachine, thisMachine } from './processes/isolation.ts';
import { findProgram } from './processes/programs.ts';
import { openSpool } from './spool/open-spool.ts';

const isRoot = process.getuid?.() === 0;

async function confine(
  t: TestContext,
  machine: HostMachine,
  more: Record<string, string>,
  logged: string[] = [],
) {
  const folder = temporaryFolder(t, 'confine-');
  mkdirSync(join(folder, 'spool'));
  await using spool = await openSpool(join(folder, 'spool'), 0);
  const settings = readProgramSettings(agentSettings, {
    ENVARIUM_WORK_DIR: join(folder, 'work'),
    ENVARIUM_SLOT_UID_BASE: slotUidBase(),
    ...more,
  });
  return confineRuns(
    settings,
    spool,
    pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
    machine,
  );
}

const without = (missing: string): HostMachine => ({
  ...thisMachine,
  find: (program) => (program === missing ? null : `/bin/${program === 'bwrap' ? 'true' : program}`),
});

const lacks: readonly (readonly [what: string, machine: HostMachine, reason: RegExp])[] = [
  ['bubblewrap', without('bwrap'), /bubblewrap is not installed/],
  ['prlimit', without('prlimit'), /prlimit is not installed \(package "util-linux"\)/],
  ['setpriv', without('setpriv'), /setpriv is not installed/],
  [
    'a filter of system calls',
    { ...thisMachine, find: (program) => `/bin/${program}`, architecture: 'riscv64' },
    /no filter of system calls for the architecture riscv64/,
  ],
  [
    'user namespaces',
    { ...thisMachine, find: (program) => (program === 'bwrap' ? '/bin/false' : findProgram(program)) },
    /bubblewrap cannot be used: it ended with code 1/,
  ],
];

for (const [what, machine, reason] of lacks)
  test(`an agent with required isolation does not start without ${what}`, async (t) => {
    await assert.rejects(confine(t, machine, { ENVARIUM_ISOLATION: 'required' }), (error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(error.message, /^ENVARIUM_ISOLATION is "required"/);
      assert.match(error.message, reason);
      return true;
    });
  });

test('an agent without namespaces reports why, and which limits its runs have', async (t) => {
  const more = { ENVARIUM_RUN_PROCESS_LIMIT: '300', ENVARIUM_ISOLATION_NETWORK: 'none' };
  const { report } = await confine(t, without('bwrap'), more);
  assert.deepEqual(report, {
    hasNamespaces: false,
    problem: 'bubblewrap is not installed (package "bubblewrap")',
    hasSystemCallFilter: false,
    hasOwnUsers: isRoot,
    network: 'host',
    hasControlGroups: false,
    controllers: [],
    limits: { ...report.limits, processes: 300 },
  });
  assert.ok(report.limits.memoryMegabytes > 0 && report.limits.diskMegabytes > 0);
});

test('an agent without prlimit starts, and warns of the limits that its runs do not have', async (t) => {
  const machine = (missing: string): HostMachine => ({
    ...thisMachine,
    find: (program) => (program === missing ? null : findProgram(program)),
  });
  for (const [missing, warnings] of [
    ['prlimit', 1],
    ['nothing', 0],
  ] as const) {
    const logged: string[] = [];
    await confine(t, machine(missing), { ENVARIUM_ISOLATION: 'auto' }, logged);
    assert.equal(logged.filter((line) => /prlimit is not installed/.test(line)).length, warnings, missing);
  }
});

test('an agent with namespaces reports them', {
  skip: findProgram('bwrap') === null ? 'needs bubblewrap' : false,
}, async (t) => {
  const { report } = await confine(t, thisMachine, {
    ENVARIUM_ISOLATION: 'required',
    ENVARIUM_ISOLATION_NETWORK: 'none',
  });
  const { hasNamespaces, hasSystemCallFilter, network, problem } = report;
  assert.deepEqual([hasNamespaces, hasSystemCallFilter, network, problem], [true, true, 'none', undefined]);
});

test('trees are kept only where no other run can reach them', async (t) => {
  const isolated = await confine(t, thisMachine, { ENVARIUM_KEPT_TREES: '7' });
  if (isRoot || findProgram('bwrap') !== null) assert.equal(isolated.keptTrees.limit, 7);
  const without = await confine(t, thisMachine, { ENVARIUM_KEPT_TREES: '7', ENVARIUM_ISOLATION: 'off' });
  assert.equal(without.keptTrees.limit, isRoot ? 7 : 0);
});
