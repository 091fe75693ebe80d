/** Plans and applies with the real runner, the real Pulumi and a provider of files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectResult } from '../../../testing/outcomes.ts';
import { withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage, variablesOf } from '../../../testing/pulumi/pulumi-stage.ts';
import { deployed, program, urn, variables } from '../../../testing/pulumi/shop.ts';

for (const onOtherMachine of [false, true]) {
  test(
    `a deployment plans and applies, ${onOtherMachine ? 'on another machine' : 'in the kept tree'}`,
    withPulumi,
    async (t) => {
      const { world, run, apply, job, setup } = pulumiStage(t, { 'Pulumi.yaml': program }, variables);
      const planned = await expectResult('planned', run(job()));
      assert.deepEqual(planned.outcome.planSummary, { added: 2, changed: 0, destroyed: 0 });
      assert.equal(planned.outcome.toolVersion, '3.259.0');
      assert.equal(planned.outcome.isStateOurs, true);
      const applied = await expectResult('applied', apply(planned, { onOtherMachine }));
      assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'hello');
      assert.equal(readFileSync(join(world, 'key'), 'utf8'), 'planted-token');
      assert.deepEqual(applied.outcome.outputs, {
        key: { value: 'planted-token', sensitive: true, type: 'string' },
        page: { value: join(world, 'page'), sensitive: false, type: 'string' },
      });
      assert.equal(applied.outcome.resourceCount, 2);
      assert.deepEqual(applied.steps(), {
        'apply:prepare': 'SUCCESS',
        'pulumi:up': 'SUCCESS',
        'pulumi:output': 'SUCCESS',
        'state:store': 'SUCCESS',
      });
      const events = applied.events.filter((event) => event.kind === 'resource');
      assert.deepEqual(
        events
          .filter(({ status }) => status === 'done')
          .map(({ address, action }) => [address, action])
          .sort(),
        [
          [urn('key'), 'create'],
          [urn('page'), 'create'],
        ],
      );
      const state = setup.newestState(applied)?.toString() ?? '';
      assert.ok(!state.includes('planted-token'));
      // One for each version that the runner has met.
      assert.ok((JSON.parse(state) as { serial: number }).serial >= 1);
    },
  );
}

test('a change updates and replaces, and a plan without one has no changes', withPulumi, async (t) => {
  const { setup, world, deploy, applied } = await deployed(t);
  const same = await deploy({}, applied);
  assert.equal(same.planned.outcome.hasChanges, false);
  assert.equal(same.applied.outcome.result, 'applied', JSON.stringify(same.applied.outcome));
  setup.commit({ 'Pulumi.yaml': program.replace('${world}/key', '${world}/other') });
  const greeting = { values: { greeting: 'bye' }, secrets: variables.secrets };
  const changed = await deploy({ variables: variablesOf(world, greeting) }, same.applied);
  assert.deepEqual(changed.planned.outcome.planSummary, { added: 1, changed: 1, destroyed: 1, replaced: 1 });
  const rows = changed.planned.outcome.plan?.resourceChanges ?? [];
  assert.deepEqual(rows.map(({ path, action }) => [path, action]).sort(), [
    [urn('key'), 'recreate'],
    [urn('page'), 'update'],
  ]);
  const page = rows.find(({ path }) => path === urn('page'));
  assert.deepEqual(page?.attributes, [{ name: 'content', before: 'hello', after: 'bye' }]);
  assert.equal(changed.applied.outcome.result, 'applied', JSON.stringify(changed.applied.outcome));
  assert.deepEqual(readdirSync(world).sort(), ['other', 'page']);
  assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'bye');
  const { serial } = JSON.parse(setup.newestState(changed.applied)?.toString() ?? '') as { serial: number };
  assert.ok(serial >= 2);
});

test(
  'a drift run names what was changed and removed by hand, and an apply restores it',
  withPulumi,
  async (t) => {
    const { world, run, job, after, deploy, applied } = await deployed(t);
    writeFileSync(join(world, 'page'), 'somebody else');
    rmSync(join(world, 'key'));
    const known = after(applied);
    const drift = await expectResult(
      'planned',
      run(job({ type: 'driftDetection', ...known.changes }), known.options),
    );
    assert.deepEqual(
      drift.outcome.plan?.resourceChanges
        .map(({ path, action, driftByCloud }) => [path, action, driftByCloud])
        .sort(),
      [
        [urn('key'), 'create', true],
        [urn('page'), 'update', true],
      ],
    );
    const mended = await deploy({}, applied);
    assert.equal(mended.applied.outcome.result, 'applied', JSON.stringify(mended.applied.outcome));
    assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'hello');
    assert.equal(readFileSync(join(world, 'key'), 'utf8'), 'planted-token');
  },
);

test('a destroy deletes what the state has, and nothing is left in it', withPulumi, async (t) => {
  const { world, deploy, applied, setup } = await deployed(t);
  const gone = await deploy({ type: 'destroy' }, applied);
  assert.deepEqual(gone.planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 2 });
  assert.equal(gone.applied.outcome.result, 'applied', JSON.stringify(gone.applied.outcome));
  assert.deepEqual(readdirSync(world), []);
  assert.equal(gone.applied.outcome.resourceCount, 0);
  assert.ok(!(setup.newestState(gone.applied)?.toString() ?? '').includes('"resources"'));
});

test('what is retained stays, and the stack forgets it', withPulumi, async (t) => {
  const retaining = program.replaceAll(
    '    type: file:File\n',
    '    type: file:File\n    options: { retainOnDelete: true }\n',
  );
  const { setup, world, deploy } = pulumiStage(t, { 'Pulumi.yaml': retaining }, variables);
  const { applied } = await deploy();
  setup.commit({ 'Pulumi.yaml': retaining.replace('${world}/key', '${world}/other') });
  const replaced = await deploy({}, applied);
  assert.deepEqual(replaced.planned.outcome.planSummary, {
    added: 1,
    changed: 0,
    destroyed: 0,
    forgotten: 1,
  });
  assert.deepEqual(readdirSync(world).sort(), ['key', 'other', 'page']);
  const gone = await deploy({ type: 'destroy' }, replaced.applied);
  assert.deepEqual(gone.planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 0, forgotten: 2 });
  assert.equal(gone.applied.outcome.result, 'applied', JSON.stringify(gone.applied.outcome));
  assert.equal(gone.applied.outcome.resourceCount, 0);
  assert.deepEqual(readdirSync(world).sort(), ['key', 'other', 'page']);
});

test('no secret is in a log, a plan or a state', withPulumi, async (t) => {
  const { applied, deploy, world, setup } = await deployed(t);
  const secrets = { token: 'another-planted-token' };
  const next = await deploy(
    { variables: variablesOf(world, { ...variables, secrets }), secrets: Object.values(secrets) },
    applied,
  );
  const [row] = next.planned.outcome.plan?.resourceChanges ?? [];
  assert.deepEqual(row?.attributes, [{ name: 'content', before: '(sensitive)', after: '(sensitive)' }]);
  for (const ran of [applied, next.planned, next.applied])
    for (const step of Object.keys(ran.steps())) assert.doesNotMatch(ran.log(step), /planted-token/, step);
  assert.doesNotMatch(JSON.stringify(next.planned.outcome), /planted-token/);
  assert.ok(!setup.newestState(next.applied)?.includes('planted-token'));
});
