/** Plans and applies with the real runner, the real Pulumi and a provider of files. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { withPulumi } from '../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage, type StageVariables, variablesOf } from '../../testing/pulumi/pulumi-stage.ts';

const program = `name: shop
runtime: yaml
config:
  world: { type: string }
  greeting: { type: string }
  token: { type: string, secret: true }
resources:
  page:
    type: file:File
    properties:
      path: \${world}/page
      content: \${greeting}
  key:
    type: file:File
    properties:
      path: \${world}/key
      content: \${token}
outputs:
  page: \${page.path}
  key: \${key.content}
`;
const variables = { values: { greeting: 'hello' }, secrets: { token: 'planted-token' } };
const urn = (name: string) => `urn:pulumi:test-one::shop::file:index:File::${name}`;

for (const travels of [false, true]) {
  test(
    `a deployment plans and applies, ${travels ? 'elsewhere' : 'on the kept tree'}`,
    withPulumi,
    async (t) => {
      const { world, run, apply, job, setup } = pulumiStage(t, { 'Pulumi.yaml': program }, variables);
      const planned = await run(job());
      assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome));
      assert.deepEqual(planned.outcome.planSummary, { added: 2, changed: 0, destroyed: 0 });
      assert.equal(planned.outcome.toolVersion, '3.259.0');
      assert.equal(planned.outcome.isStateOurs, true);
      const applied = await apply(planned, { travels });
      assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
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
      assert.equal((JSON.parse(state) as { serial: number }).serial, 1);
    },
  );
}
async function deployed(t: TestContext, more: StageVariables = {}) {
  const stage = pulumiStage(t, { 'Pulumi.yaml': program }, { ...variables, ...more });
  const { applied } = await stage.deploy();
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
  return { ...stage, applied };
}

test('a change updates and replaces, and a plan without one has no changes', withPulumi, async (t) => {
  const { setup, world, deploy, applied } = await deployed(t);
  const same = await deploy({}, applied);
  assert.equal(same.planned.outcome.hasChanges, false);
  assert.equal(same.applied.outcome.result, 'applied', JSON.stringify(same.applied.outcome));
  setup.commit({ 'Pulumi.yaml': program.replace('${world}/key', '${world}/other') });
  const greeting = { values: { greeting: 'bye' }, secrets: variables.secrets };
  const changed = await deploy({ variables: variablesOf(world, greeting) }, same.applied);
  assert.deepEqual(changed.planned.outcome.planSummary, { added: 1, changed: 1, destroyed: 1 });
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
  'a drift run names what somebody has changed and removed, and an apply restores it',
  withPulumi,
  async (t) => {
    const { world, run, job, after, deploy, applied } = await deployed(t);
    writeFileSync(join(world, 'page'), 'somebody else');
    rmSync(join(world, 'key'));
    const known = after(applied);
    const drift = await run(job({ type: 'driftDetection', ...known.changes }), known.options);
    assert.equal(drift.outcome.result, 'planned', JSON.stringify(drift.outcome));
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

test(
  'an apply that would do what was not approved stops before it changes anything',
  withPulumi,
  async (t) => {
    const stage = await deployed(t);
    const known = stage.after(stage.applied);
    const planned = await stage.run(stage.job(known.changes), known.options);
    assert.equal(planned.outcome.hasChanges, false);
    rmSync(join(stage.world, 'page'));
    const stopped = await stage.apply(planned);
    assert.equal(stopped.outcome.result, 'failed');
    assert.match(
      stopped.outcome.error?.message ?? '',
      /differs from what was approved \(create of urn:pulumi:test-one::shop::file:index:File::page, which was not in the approved preview\)/,
    );
    assert.ok(!existsSync(join(stage.world, 'page')));
  },
);

test('a failure half-way keeps what was done, and the next deployment continues', withPulumi, async (t) => {
  const failing = program.replace(
    'content: ${token}',
    'content: ${token}\n      mode: fail\n    options: { dependsOn: ["${page}"] }',
  );
  const { world, setup, deploy } = pulumiStage(t, { 'Pulumi.yaml': failing }, variables);
  const { applied } = await deploy();
  assert.equal(applied.outcome.result, 'failed');
  assert.match(applied.outcome.error?.message ?? '', /key cannot be written: the mode is fail/);
  assert.deepEqual(readdirSync(world), ['page']);
  assert.equal(applied.outcome.resourceCount, 1);
  assert.equal(applied.steps()['state:store'], 'SUCCESS');
  setup.commit({ 'Pulumi.yaml': program });
  const next = await deploy({}, applied);
  assert.deepEqual(next.planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0 });
  assert.equal(next.applied.outcome.result, 'applied', JSON.stringify(next.applied.outcome));
  assert.deepEqual(readdirSync(world).sort(), ['key', 'page']);
});

test('a retry repeats the update under the same plan', withPulumi, async (t) => {
  const { world, run, job, apply } = pulumiStage(
    t,
    {
      'Pulumi.yaml': program.replace('path: ${world}/key', 'path: ${world}/folder/key'),
    },
    variables,
  );
  const planned = await run(job({ retry: { times: 1, isReviewed: true } }));
  const applied = await apply(planned);
  assert.equal(applied.outcome.result, 'failed');
  assert.equal(applied.outcome.error?.retryCount, 1);
  assert.match(applied.log('pulumi:up'), /Retry 1 of 1/);
  assert.deepEqual(readdirSync(world), ['page']);
});

test('an abort of a resource that hangs keeps what was done', withPulumi, async (t) => {
  const hanging = program.replace(
    'content: ${token}',
    'content: ${token}\n      mode: hang\n    options: { dependsOn: ["${page}"] }',
  );
  const { world, setup, run, job, start, after, apply } = pulumiStage(
    t,
    { 'Pulumi.yaml': hanging },
    variables,
  );
  const planned = await run(job());
  const running = start(setup.applyJob(planned));
  await running.until(() => existsSync(join(world, 'page')), 'the first resource');
  running.abort('gently');
  const stopped = await running.ended;
  assert.equal(stopped.outcome.result, 'aborted', JSON.stringify(stopped.outcome));
  assert.equal(stopped.outcome.resourceCount, 1);
  setup.commit({ 'Pulumi.yaml': program });
  const known = after(stopped);
  const next = await run(job(known.changes), known.options);
  assert.deepEqual(
    next.outcome.planSummary,
    { added: 1, changed: 0, destroyed: 0 },
    JSON.stringify(next.outcome),
  );
  assert.equal((await apply(next)).outcome.result, 'applied');
});

test('after a kill, the next plan names what may exist, and the update continues', withPulumi, async (t) => {
  const hanging = program.replace(
    'content: ${token}',
    'content: ${token}\n      mode: hang-after\n    options: { dependsOn: ["${page}"] }',
  );
  const { world, setup, run, job, start, after, apply } = pulumiStage(
    t,
    { 'Pulumi.yaml': hanging },
    variables,
  );
  const planned = await run(job());
  const running = start(setup.applyJob(planned));
  await running.until(() => existsSync(join(world, 'key')), 'the resource that hangs');
  running.abort('now');
  const killed = await running.ended;
  assert.equal(killed.outcome.result, 'aborted', JSON.stringify(killed.outcome));
  assert.deepEqual(
    killed.outcome.unrecorded?.map(({ address, certainty }) => [address, certainty]),
    [[urn('key'), 'may exist']],
  );
  setup.commit({ 'Pulumi.yaml': program });
  const known = after(killed);
  const next = await run(job(known.changes), known.options);
  assert.equal(next.outcome.result, 'planned', JSON.stringify(next.outcome));
  assert.match(
    next.log('pulumi:preview'),
    /stopped while creating urn:pulumi:test-one::shop::file:index:File::key: whether it exists is unknown/,
  );
  const applied = await apply(next);
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
  assert.ok(!setup.newestState(applied)?.includes('pending_operations'));
});
