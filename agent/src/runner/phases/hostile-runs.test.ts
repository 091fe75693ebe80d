import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { firstThen } from '../../../testing/configurations.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type RunnerSetup,
  withTerraform,
  withTerraformAsRoot,
} from '../../../testing/runner-setup.ts';
import { processesOf } from '../../processes/end-processes.ts';
import { findProgram } from '../../processes/programs.ts';

const planted = 'planted-secret-0123456789';

function hostile(command: string): string {
  return firstThen('hostile', command);
}

async function apply(setup: RunnerSetup) {
  return setup.run(setup.applyJob(await setup.run(setup.job())));
}

test(
  "cannot read the spool, another run's folder, or the environment of any process but its own",
  withTerraformAsRoot,
  async (t) => {
    const setup = createSetup(t, { readme: 'x' });
    const other = join(setup.workFolder, 'other');
    mkdirSync(join(other, 'state'), { recursive: true });
    writeFileSync(join(other, 'state', 'terraform.tfstate'), planted);
    chmodSync(other, 0o711);
    chownSync(join(other, 'state'), 57_999, 57_999);
    chmodSync(join(other, 'state'), 0o700);
    writeFileSync(join(setup.folder, 'spool', 'key'), planted, { mode: 0o600 });
    const commands = [
      `cat ${other}/state/terraform.tfstate`,
      `cat ${setup.folder}/spool/key`,
      `ls ${setup.folder}/spool`,
      `ls ${setup.workFolder}`,
      'cat /proc/[0-9]*/environ | tr "\\\\0" "\\\\n" | grep PLANTED',
      'id -u; id -G',
      'grep -i nonewpriv /proc/self/status',
    ];
    setup.commit({ 'main.tf': hostile(`exec 2>&1; ${commands.join('; ')}; true`) });
    process.env.PLANTED_IN_THE_AGENT = planted;
    t.after(() => delete process.env.PLANTED_IN_THE_AGENT);
    const ran = await expectResult('applied', apply(setup));
    const log = ran.log('tf:apply');
    assert.doesNotMatch(log, new RegExp(planted));
    assert.match(log, new RegExp(`m${setup.slotUid}\n`));
    assert.match(log, /NoNewPrivs:\s+1/);
    assert.ok((log.match(/Permission denied|No such file/g) ?? []).length >= 3, log);
  },
);

test('a link in place of a file that the agent reads or writes is not followed', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': 'variable "x" {}\noutput "x" { value = var.x }\n' });
  const target = join(setup.folder, 'target');
  writeFileSync(target, planted, { mode: 0o600 });
  for (const name of ['envarium.auto.tfvars.json', 'errored.tfstate'])
    symlinkSync(target, join(setup.repository, name));
  setup.commit({});
  const job = setup.job({
    variables: { environment: [], terraform: [{ name: 'x', value: 'y', isSensitive: false }] },
  });
  const planned = await expectResult('planned', setup.run(job));
  const applied = await expectResult('applied', setup.run(setup.applyJob(planned)));
  assert.equal(readFileSync(target, 'utf8'), planted);
  assert.doesNotMatch(JSON.stringify(applied.outcome), new RegExp(planted));
});

test('a lock file that is a link to something else is not read', withTerraformAsRoot, async (t) => {
  const setup = createSetup(t, { 'main.tf': '' });
  const target = join(setup.folder, 'target');
  writeFileSync(target, planted, { mode: 0o600 });
  symlinkSync(target, join(setup.repository, '.terraform.lock.hcl'));
  setup.commit({});
  const ran = await expectResult('failed', setup.run(setup.job()));
  assert.doesNotMatch(JSON.stringify(ran.outcome) + ran.log('tf:init'), new RegExp(planted));
});

test(
  'a state that the run replaced by a link is neither followed nor lost',
  withTerraformAsRoot,
  async (t) => {
    const setup = createSetup(t, { readme: 'x' });
    const target = join(setup.folder, 'target');
    writeFileSync(
      target,
      JSON.stringify({ version: 4, serial: 99, lineage: planted, outputs: {}, resources: [] }),
      { mode: 0o600 },
    );
    setup.commit({
      'main.tf': hostile(
        `sleep 0.5; cd ../state/test-one && rm terraform.tfstate && ln -s ${target} terraform.tfstate; kill -9 $PPID`,
      ),
    });
    const ran = await apply(setup);
    assert.notEqual(ran.outcome.result, 'applied');
    assert.doesNotMatch(JSON.stringify(ran.outcome), new RegExp(planted));
    const state = setup.newestState(ran)?.toString() ?? '';
    assert.doesNotMatch(state, new RegExp(planted));
    assert.match(state, /"first"/);
  },
);

test('a run leaves no process behind, however the process was started', withTerraformAsRoot, async (t) => {
  const setup = createSetup(t, {
    'main.tf': hostile(
      'setsid nohup sh -c "while :; do sleep 1000; done" >/dev/null 2>&1 & (setsid sleep 1000 >/dev/null 2>&1 &) ; sleep 0.2',
    ),
  });
  await expectResult('applied', apply(setup));
  assert.deepEqual(processesOf(setup.slotUid ?? -1), []);
});

test('a run that kills everything of its user fails, with its state kept', withTerraformAsRoot, async (t) => {
  const setup = createSetup(t, { 'main.tf': hostile('sleep 0.5; kill -9 -1') }, { isolation: 'off' });
  const ran = await apply(setup);
  assert.match(failureMessageOf(ran), /ended by signal SIGKILL/);
  assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
  assert.deepEqual(ran.outcome.unrecorded, [{ address: 'terraform_data.hostile', certainty: 'may exist' }]);
});

test('a run may print 100 MB and binary bytes', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': hostile('true') });
  const chatty = join(setup.folder, 'terraform');
  // Terraform itself needs minutes to pass on that much of a provisioner's output; a wrapper prints it too
  // the real one.
  writeFileSync(
    chatty,
    `#!/bin/sh\ncase "$1" in plan|apply) yes "$(printf %01000d 0)" | head -c 100000000; head -c 100000 /dev/urandom; head -c 5000000 /dev/zero; echo;; esac\nexec ${findProgram('terraform')} "$@"\n`,
    { mode: 0o755 },
  );
  const toolPaths = { terraform: chatty };
  const planned = await setup.run(setup.job(), { toolPaths });
  const ran = await expectResult('applied', setup.run(setup.applyJob(planned), { toolPaths }));
  assert.equal(ran.outcome.resourceCount, 2);
  assert.equal(ran.events.filter((event) => event.kind === 'resource' && event.status === 'done').length, 2);
  for (const log of [planned.spool.stepLog('tf:plan'), ran.spool.stepLog('tf:apply')])
    assert.ok(statSync(log).size > 105_000_000);
});

test(
  'with many resources at once, every stored state version is complete and the newest is the last',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, {
      'main.tf':
        'resource "terraform_data" "many" {\n  count = 300\n  input = join("", [for i in range(200) : "0123456789"])\n}\n',
    });
    const planned = await setup.run(setup.job());
    const job = setup.applyJob(planned);
    const stateFile = join(
      setup.workFolder,
      job.environmentId,
      'state',
      job.workspaceName,
      'terraform.tfstate',
    );
    const running = setup.start(job);
    const ran = await running.ended;
    assert.equal(ran.outcome.result, 'applied', JSON.stringify(ran.outcome).slice(0, 500));
    assert.equal(ran.outcome.resourceCount, 300);
    const state = JSON.parse(setup.newestState(ran)?.toString() ?? '') as {
      resources: { instances: unknown[] }[];
    };
    assert.equal(state.resources[0]?.instances.length, 300);
    assert.equal(
      ran.events.filter((event) => event.kind === 'resource' && event.status === 'done').length,
      300,
    );
    assert.equal(existsSync(stateFile), false);
  },
);

test('a run cannot truncate the log of its own tool', withTerraformAsRoot, async (t) => {
  const setup = createSetup(t, {
    'main.tf': hostile('truncate -s 0 /proc/$PPID/fd/1 || echo cannot truncate'),
  });
  const ran = await expectResult('applied', apply(setup));
  assert.match(ran.log('tf:apply'), /cannot truncate/);
});

test(
  'a process that an apply leaves, and that prints on and on, does not hold its end',
  withTerraformAsRoot,
  async (t) => {
    // Without namespaces, it outlives the tool.
    const setup = createSetup(
      t,
      { 'main.tf': 'resource "terraform_data" "first" {}\n' },
      { isolation: 'off' },
    );
    const planned = await setup.run(setup.job());
    const program = join(setup.folder, 'terraform');
    const printing = `setsid sh -c 'while :; do echo "terraform_data.other: Creating..."; done' &`;
    writeFileSync(
      program,
      `#!/bin/sh\n[ "$1" = apply ] && { ${printing} }\nexec ${findProgram('terraform')} "$@"\n`,
      { mode: 0o755 },
    );
    const toolPaths = { terraform: program, git: findProgram('git') ?? '' };
    const ran = await expectResult('applied', setup.run(setup.applyJob(planned), { toolPaths }));
    assert.match(ran.log('tf:apply'), /terraform_data\.other: Creating/);
    assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
    assert.deepEqual(setup.slotUid === null ? [] : processesOf(setup.slotUid), []);
  },
);
