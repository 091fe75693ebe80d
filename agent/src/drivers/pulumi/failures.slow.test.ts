/** Updates of Pulumi that are refused, fail, are stopped or killed, with the real runner and the real Pulumi. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { pulumiFolder, withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage } from '../../../testing/pulumi/pulumi-stage.ts';
import { deployed, program, urn, variables } from '../../../testing/pulumi/shop.ts';

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
    assert.match(
      failureMessageOf(stopped),
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
  assert.match(failureMessageOf(applied), /key cannot be written: the mode is fail/);
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
  const applied = await expectResult('failed', apply(planned));
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
  const stopped = await expectResult('aborted', running.ended);
  assert.equal(stopped.outcome.resourceCount, 1);
  setup.commit({ 'Pulumi.yaml': program });
  const known = after(stopped);
  const next = await run(job(known.changes), known.options);
  assert.deepEqual(
    next.outcome.planSummary,
    { added: 1, changed: 0, destroyed: 0 },
    JSON.stringify(next.outcome),
  );
  await expectResult('applied', apply(next));
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
  const killed = await expectResult('aborted', running.ended);
  assert.deepEqual(
    killed.outcome.unrecorded?.map(({ address, certainty }) => [address, certainty]),
    [[urn('key'), 'may exist']],
  );
  setup.commit({ 'Pulumi.yaml': program });
  const known = after(killed);
  const next = await expectResult('planned', run(job(known.changes), known.options));
  assert.match(
    next.log('pulumi:preview'),
    /stopped while creating urn:pulumi:test-one::shop::file:index:File::key: whether it exists is unknown/,
  );
  const applied = await expectResult('applied', apply(next));
  assert.ok(!setup.newestState(applied)?.includes('pending_operations'));
});

test(
  'Pulumi itself refuses what the plan does not have, even after the comparison',
  withPulumi,
  async (t) => {
    const stage = await deployed(t);
    const { setup, after, run, job, applied, world } = stage;
    setup.commit({ 'Pulumi.yaml': program.replace('${greeting}', '${greeting}!') });
    const known = after(applied);
    const planned = await run(job(known.changes), known.options);
    // Changes the program right before the update.
    const file = join(setup.folder, 'changing');
    const real = join(pulumiFolder(), 'pulumi');
    writeFileSync(
      file,
      `#!/bin/sh\nif [ "$1" = up ]; then sed -i 's/{greeting}!/{greeting}?/' Pulumi.yaml; fi\nexec ${real} "$@"\n`,
    );
    chmodSync(file, 0o755);
    const toolPaths = { pulumi: file, 'pulumi-language-yaml': join(pulumiFolder(), 'pulumi-language-yaml') };
    const refused = await run(setup.applyJob(planned), { toolPaths });
    assert.match(failureMessageOf(refused), /violates plan.*content/s);
    assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'hello');
  },
);
