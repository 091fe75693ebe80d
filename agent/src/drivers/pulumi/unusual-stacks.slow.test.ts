/** Stacks that are not what their environment expects. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { sha256 } from '#protocol/approved.ts';
import { jobOf } from '../../../testing/driver-job.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage } from '../../../testing/pulumi/pulumi-stage.ts';
import { TornState } from '../interface/driver.ts';
import { configurationFiles } from './configuration.ts';
import { checkpointFiles, readState } from './state.ts';

const program = `name: shop
runtime: yaml
config:
  world: { type: string }
  greeting: { type: string }
resources:
  page:
    type: file:File
    properties:
      path: \${world}/page
      content: \${greeting}
`;

test('an apply elsewhere has the configuration that the code has committed', withPulumi, async (t) => {
  const { world, run, apply, job } = pulumiStage(t, {
    'Pulumi.yaml': program,
    'Pulumi.test-one.yaml': 'config:\n  shop:greeting: committed\n',
    '.envarium/committed-stack.yaml': 'config:\n  shop:greeting: hidden\n',
  });
  const planned = await run(job());
  const [row] = planned.outcome.plan?.resourceChanges ?? [];
  assert.equal(row?.attributes.find(({ name }) => name === 'content')?.after, 'committed');
  await expectResult('applied', apply(planned, { onOtherMachine: true }));
  assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'committed');
});

test(
  'a project with another name is refused while the state has resources of the old one',
  withPulumi,
  async (t) => {
    const { world, run, job, setup, deploy, after } = pulumiStage(
      t,
      { 'Pulumi.yaml': program },
      { values: { greeting: 'hello' } },
    );
    const { applied } = await deploy();
    setup.commit({ 'Pulumi.yaml': program.replace('name: shop', 'name: zoo').replace('/page', '/other') });
    const known = after(applied);
    const planned = await run(job(known.changes), known.options);
    assert.match(
      failureMessageOf(planned),
      /the state belongs to the project "shop", and Pulumi\.yaml names "zoo": change the name back/,
    );
    assert.ok(!existsSync(join(world, 'other')));
    setup.commit({ 'Pulumi.yaml': program });
    const gone = await deploy({ type: 'destroy' }, applied);
    assert.equal(gone.applied.outcome.result, 'applied', JSON.stringify(gone.applied.outcome));
    setup.commit({ 'Pulumi.yaml': program.replace('name: shop', 'name: zoo') });
    const renamed = await deploy({}, gone.applied);
    assert.equal(renamed.applied.outcome.result, 'applied', JSON.stringify(renamed.applied.outcome));
    assert.equal(renamed.applied.outcome.resourceCount, 1);
    assert.match(setup.newestState(renamed.applied)?.toString() ?? '', /::zoo::file:index:File::page/);
    assert.deepEqual(readdirSync(world), ['page']);
  },
);

test('a state of another stack is refused before Pulumi replaces all of it', withPulumi, async (t) => {
  const { run, job, setup, deploy, after } = pulumiStage(
    t,
    { 'Pulumi.yaml': program },
    { values: { greeting: 'hello' } },
  );
  const { applied } = await deploy();
  const { changes, options } = after(applied);
  const { stack: _, ...exported } = JSON.parse(
    (setup.newestState(applied)?.toString() ?? '').replaceAll('test-one', 'prod'),
  ) as Record<string, unknown>;
  for (const more of [{}, { stack: 5 }]) {
    const state = Buffer.from(JSON.stringify({ ...exported, ...more }));
    const current = { ...changes.state?.current, sha256: sha256(state) } as NonNullable<
      (typeof changes)['state']
    >['current'];
    const planned = await run(job({ state: { isForced: false, ...(current ? { current } : {}) } }), {
      ...options,
      state,
    });
    assert.match(
      failureMessageOf(planned),
      /belongs to the stack "prod", and that of the environment is "test-one": .* "pulumi stack rename test-one"/,
    );
  }
});

test('of two files of a project, neither is chosen', withPulumi, async (t) => {
  const { run, job } = pulumiStage(t, {
    'Pulumi.yaml': program,
    'Pulumi.json': JSON.stringify({ name: 'other', runtime: 'yaml', backend: { url: 'file:///elsewhere' } }),
  });
  const { outcome } = await expectResult('failed', run(job()));
  assert.match(outcome.error?.message ?? '', /has Pulumi\.yaml and Pulumi\.json, and only one of them/);
});

const text = (value: unknown) => Buffer.from(JSON.stringify(value));
const resource = (project: string) => ({
  urn: `urn:pulumi:test-one::${project}::a:index:B::${project}`,
  type: 'a:index:B',
});
const checkpoint = (project: string) =>
  text({
    version: 3,
    checkpoint: {
      stack: `organization/${project}/test-one`,
      latest: { resources: project === 'empty' ? [] : [resource(project)] },
    },
  });
const job = { workspaceName: 'test-one', environmentId: 'environment' };
const files = new Map(
  ['aside', 'empty', 'shop'].map((name) => [`.pulumi/stacks/${name}/test-one.json`, checkpoint(name)]),
);

test('stacks of the same name that the program makes in other projects are not the state', () => {
  const nameOf = (state: Uint8Array) => readState(state).resources.map(({ name }) => name);
  const first = checkpointFiles(job, 'shop').join(files, null);
  assert.deepEqual(nameOf(first), ['shop']);
  assert.deepEqual(nameOf(checkpointFiles(job, null).join(files, first)), ['shop']);
  assert.throws(() => checkpointFiles(job, 'gone').join(files, null), TornState);
});

test('a checkpoint whose resources are damaged is ignored', () => {
  const { check } = checkpointFiles(job, 'shop');
  for (const resources of [{}, [null], [{ urn: 5, type: 'a' }], ['a']])
    assert.throws(
      () => check(text({ version: 3, checkpoint: { stack: 's', latest: { resources } } })),
      TornState,
    );
  check(text({ version: 3, checkpoint: { stack: 's', latest: null } }));
});

test('variables replace both forms of their keys that the code may have committed', async () => {
  const texts: Record<string, string> = {
    'Pulumi.yaml': program,
    'Pulumi.test-one.yaml':
      'config:\n  greeting: code\n  shop:token: code\n  token: code\n  aws:region: code\n',
  };
  const tree = { list: async () => [], text: async (name: string) => texts[name] ?? null };
  const variable = (name: string, isSensitive: boolean) => ({ name, value: 'environment', isSensitive });
  const terraform = [variable('shop:greeting', false), variable('token', true)];
  const [, file] = await configurationFiles({
    job: jobOf({ tool: 'pulumi', workspaceName: 'test-one', variables: { environment: [], terraform } }),
    configurationFolder: '/code',
    stateFolder: null,
    planFile: '/plan/tfplan',
    temporaryFolder: '/tmp',
    tree,
  });
  assert.deepEqual(parse(file?.content ?? ''), {
    config: { 'aws:region': 'code', 'shop:greeting': 'environment' },
  });
});
