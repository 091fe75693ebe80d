import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { AgentSetup } from '../testing/agent-setup.ts';
import type { ServedAttempt } from '../testing/protocol-server.ts';
import { withTerraform, withTerraformAsRoot } from '../testing/runner-setup.ts';
import { reinstate } from './slots/kept-trees.ts';
import { workFolderPaths } from './slots/work-folder.ts';

const code = { 'main.tf': 'variable "word" {}\nresource "terraform_data" "first" { input = var.word }' };

function variables(): Pick<Job, 'variables' | 'secrets'> {
  const terraform = [{ name: 'word', value: 'planted-secret', isSensitive: true }];
  return { variables: { environment: [], terraform }, secrets: ['planted-secret'] };
}

function work(setup: AgentSetup): string[] {
  return readdirSync(setup.workFolder).filter((name) => !name.startsWith('.'));
}

/** A plan that waits for a decision, once its attempt has ended. */
async function planned(setup: AgentSetup, changes: Partial<Job> = {}): Promise<ServedAttempt> {
  const job = setup.job({ ...variables(), ...changes });
  setup.server.enqueue(job);
  const attempt = await setup.outcomeOf(job);
  assert.equal(attempt.outcome?.result, 'planned', JSON.stringify(attempt.outcome));
  await setup.until(() => setup.spooled().length === 0, 'an empty spool');
  return attempt;
}

/** Applies a plan, as the agent that made it. @returns the steps that it reported */
async function applied(setup: AgentSetup, plan: ServedAttempt): Promise<Record<string, string>> {
  const job = setup.applyJob(plan, true);
  setup.server.enqueue(job);
  const attempt = await setup.outcomeOf(job);
  assert.equal(attempt.outcome?.result, 'applied', JSON.stringify(attempt.outcome));
  await setup.until(() => setup.spooled().length === 0, 'an empty spool');
  return stepsOf(attempt);
}

/** Puts a tree back as the agent that was killed would have done. */
function reinstateFor(setup: AgentSetup, job: Job): void {
  const name = work(setup).find((one) => one.startsWith(`${job.environmentId}.`)) ?? assert.fail();
  const folder = join(setup.workFolder, name);
  const by = job.approved?.continues ?? assert.fail();
  const place = workFolderPaths(setup.workFolder, job);
  const { uid } = statSync(join(folder, 'tree'));
  const tree = {
    by,
    place,
    folder,
    slotUid: uid,
    secrets: new Map(),
    masked: [],
    plan: null,
    state: null,
    expiresAt: Infinity,
  };
  reinstate(tree, job);
}

/** The folder of an attempt that was claimed, and whose runner was not started. */
function prepareSpool(setup: AgentSetup, job: Job): void {
  const spool = setup.spool(job);
  for (const folder of [spool.folder, spool.inputs, spool.steps, spool.states, spool.outputs])
    mkdirSync(folder);
  writeFileSync(spool.job, JSON.stringify(job));
  writeFileSync(spool.contact, String(uptime()));
  const by = job.approved?.continues ?? assert.fail();
  writeFileSync(spool.inputPlan, setup.server.attempt(by)?.blobs.get('plan') ?? assert.fail());
  setup.server.add(job);
}

function stepsOf({ events }: ServedAttempt): Record<string, string> {
  const steps = events.filter((event) => event.kind === 'step');
  return Object.fromEntries(steps.map(({ step, status }) => [step, status]));
}

test('an apply after an approval continues in the tree of its plan', withTerraformAsRoot, async (t) => {
  const setup = await AgentSetup.create(t, code);
  const agent = setup.startAgent();
  const plan = await planned(setup);
  const [name = '', ...others] = work(setup);
  assert.match(name, /^environment-1\.planned-[\w-]+-job-1-1$/);
  assert.deepEqual(others, []);
  const { uid } = statSync(join(setup.workFolder, name, 'tree'));
  assert.throws(() => execFileSync('grep', ['-r', 'planted-secret', setup.workFolder]), { status: 1 });
  // Another run in between has another uid, in the only slot.
  const between = await planned(setup);
  assert.notEqual(uid, statSync(join(setup.workFolder, work(setup)[1] ?? '', 'tree')).uid);
  assert.deepEqual(await applied(setup, plan), {
    'apply:prepare': 'SKIPPED',
    'tf:apply': 'SUCCESS',
    'tf:output': 'SUCCESS',
    'state:store': 'SUCCESS',
  });
  assert.equal((await applied(setup, between))['apply:prepare'], 'SKIPPED');
  assert.deepEqual([setup.server.calls.includes('getBlob'), work(setup)], [false, []]);
  assert.deepEqual(setup.server.problems, []);
  assert.doesNotMatch(agent.log(), /planted-secret/);
});

test('an apply restores its tree where none is kept', withTerraformAsRoot, async (t) => {
  const setup = await AgentSetup.create(t, code);
  setup.startAgent({ ENVARIUM_KEPT_TREES: '1' });
  const [first, second] = [await planned(setup), await planned(setup)];
  await setup.until(() => work(setup).length === 1, 'one kept tree');
  assert.equal((await applied(setup, first))['apply:prepare'], 'SUCCESS', 'more were kept than the limit');
  assert.equal((await applied(setup, second))['apply:prepare'], 'SKIPPED');
  const replaced = await planned(setup, { environmentId: 'one' });
  await planned(setup, { environmentId: 'one' });
  assert.equal((await applied(setup, replaced))['apply:prepare'], 'SUCCESS', 'its environment was used');
  await setup.until(() => work(setup).length === 0, 'an empty work folder');
  assert.deepEqual(setup.server.problems, []);
});

test(
  'a restarted agent removes the kept trees, and applies restore theirs',
  withTerraformAsRoot,
  async (t) => {
    const setup = await AgentSetup.create(t, code);
    const first = setup.startAgent();
    const plan = await planned(setup);
    assert.equal(work(setup).length, 1);
    await first.kill('SIGKILL');
    setup.startAgent();
    await setup.until(() => work(setup).length === 0, 'an empty work folder');
    assert.equal((await applied(setup, plan))['apply:prepare'], 'SUCCESS');
    assert.deepEqual(setup.server.problems, []);
  },
);

test('a kept tree whose lock file was changed is not applied', withTerraformAsRoot, async (t) => {
  const setup = await AgentSetup.create(t, code);
  setup.startAgent();
  const plan = await planned(setup);
  writeFileSync(join(setup.workFolder, work(setup)[0] ?? '', 'tree', '.terraform.lock.hcl'), '# changed');
  const job = setup.applyJob(plan, true);
  setup.server.enqueue(job);
  const { outcome, mark } = await setup.outcomeOf(job);
  assert.match(outcome?.error?.message ?? '', /differs from what was approved \(the lock file\)/);
  assert.equal(mark, null);
  await setup.until(() => work(setup).length === 0, 'an empty work folder');
});

test('no tree is kept with a limit of 0', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, code);
  setup.startAgent({ ENVARIUM_KEPT_TREES: '0' });
  const plan = await planned(setup);
  assert.deepEqual(work(setup), []);
  assert.equal((await applied(setup, plan))['apply:prepare'], 'SUCCESS');
});

test(
  'an agent killed while it prepares an apply continues in the tree or returns the job',
  withTerraformAsRoot,
  async (t) => {
    const setup = await AgentSetup.create(t, code);
    const first = setup.startAgent();
    const [inPlace, aside] = [await planned(setup), await planned(setup)];
    await first.kill('SIGKILL');
    const [continued, returned] = [inPlace, aside].map((plan) => setup.applyJob(plan, true));
    assert.ok(continued && returned);
    for (const job of [continued, returned]) prepareSpool(setup, job);
    // Files on disk just after the tree is put back, and just before.
    reinstateFor(setup, continued);
    setup.startAgent();
    const attempt = await setup.outcomeOf(continued);
    assert.equal(attempt.outcome?.result, 'applied', JSON.stringify(attempt.outcome));
    assert.equal(stepsOf(attempt)['apply:prepare'], 'SKIPPED');
    assert.deepEqual(
      setup.server.registrations.at(-1)?.held.map((held) => held.jobId),
      [continued.jobId],
    );
    const again = { ...returned, attempt: 2, fence: 99 };
    setup.server.enqueue(again);
    assert.equal((await setup.outcomeOf(again)).outcome?.result, 'applied');
    await setup.until(() => work(setup).length === 0, 'an empty work folder');
  },
);
