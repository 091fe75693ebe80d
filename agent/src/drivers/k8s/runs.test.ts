/** Runs on a real cluster, with the real runner and the real kubectl. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readExample } from '../../../../tools/examples.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { sharedCluster, withCluster } from '../../../testing/cluster/cluster.ts';
import { clusterStage, type StageOptions } from '../../../testing/cluster/stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import type { Ran } from '../../../testing/runner-setup.ts';
import { findProgram } from '../../processes/programs.ts';
import { readMark } from '../../spool/read-attempt.ts';

const needs = withCluster();
const cluster = sharedCluster();
/** Nothing is waited for, unless the test is about that. */
const noWait = { name: 'ENVARIUM_K8S_WAIT_SECONDS', value: '0', isSensitive: false };

async function stageOf(t: TestContext, files: Record<string, string>, options: StageOptions = {}) {
  const environment = options.variables?.environment ?? [noWait];
  return clusterStage(t, await cluster(), files, 'k8s', {
    ...options,
    variables: { ...options.variables, environment },
  });
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function changes({ outcome }: Ran): Record<string, string> {
  return Object.fromEntries(
    (outcome.plan?.resourceChanges ?? []).map(({ path, action, driftByCloud }) => [
      path,
      `${action}${driftByCloud ? ' (drift)' : ''}`,
    ]),
  );
}

for (const onOtherMachine of [false, true])
  test(
    `the example is planned, applied, changed and destroyed, ${onOtherMachine ? 'on another machine' : 'in the kept tree'}`,
    needs,
    async (t) => {
      const stage = await stageOf(t, readExample('k8s'), {
        variables: { environment: [], terraform: [{ name: 'colour', value: 'blue', isSensitive: false }] },
      });
      const { name, kubectl } = stage.namespace;
      stage.namespace.playReadiness();
      const planned = await expectResult('planned', stage.run(stage.job()));
      assert.deepEqual(planned.outcome.planSummary, { added: 3, changed: 0, destroyed: 0 });
      assert.match(planned.log('k8s:diff'), new RegExp(`\\+ apps/v1/Deployment/${name}/shop`));
      assert.equal(await kubectl(['get', 'deployments', '-o', 'name']), '');
      const applied = await stage.apply(planned, { onOtherMachine });
      assert.equal(
        applied.outcome.result,
        'applied',
        JSON.stringify(applied.outcome) + applied.log('k8s:apply'),
      );
      assert.match(applied.log('k8s:apply'), /deployment "shop" successfully rolled out/);
      assert.equal(applied.outcome.resourceCount, 3);
      const map = await kubectl([
        'get',
        'configmap',
        '-l',
        'envarium-environment-id',
        '-o',
        'jsonpath={.items[0].data}',
      ]);
      assert.deepEqual(JSON.parse(map), { colour: 'blue', greeting: 'Welcome' });

      const again = await stage.run(stage.job());
      assert.deepEqual(again.outcome.plan?.resourceChanges, []);
      assert.equal(again.outcome.hasChanges, false);

      const destroying = await stage.run(stage.job({ type: 'destroy' }));
      assert.deepEqual(destroying.outcome.planSummary, { added: 0, changed: 0, destroyed: 3 });
      const destroyed = await expectResult('applied', stage.apply(destroying, { onOtherMachine }));
      assert.equal(destroyed.outcome.resourceCount, 0);
      assert.equal(await kubectl(['get', 'deployments,services', '-o', 'name']), '');
    },
  );

/** Manifests without a kustomization. */
function manifests(...objects: object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('---\n');
}

function configMap(name: string, data: Record<string, string>, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more }, data };
}

function secret(name: string, stringData: Record<string, string>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
}

function deployment(name: string, { replicas = 1, app = name, play = '' } = {}): object {
  const labels = { app };
  const metadata = { labels, ...(play === '' ? {} : { annotations: { 'cluster.test/play': play } }) };
  const spec = { containers: [{ name: 'web', image: 'registry.test/web:1' }] };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata, spec } },
  };
}

/** The rows of a plan, with their changed fields. */
function fields({ outcome }: Ran, path: string): unknown {
  return outcome.plan?.resourceChanges.find((row) => row.path === path)?.attributes;
}

test(
  'an object that is changed in the code is changed, and one that is removed there is deleted',
  needs,
  async (t) => {
    const stage = await stageOf(t, {
      'a.yaml': manifests(configMap('kept', { a: '1' }), configMap('gone', {})),
      'b.json': manifests(deployment('web')),
    });
    const { name, kubectl } = stage.namespace;
    assert.equal((await stage.deploy()).applied.outcome.result, 'applied');
    stage.setup.commit({
      'a.yaml': manifests(configMap('kept', { a: '2', b: '3' })),
      'b.json': manifests(deployment('web', { replicas: 3 })),
    });
    const { planned, applied } = await stage.deploy();
    assert.deepEqual(changes(planned), {
      [`v1/ConfigMap/${name}/kept`]: 'update',
      [`apps/v1/Deployment/${name}/web`]: 'update',
      [`v1/ConfigMap/${name}/gone`]: 'delete',
    });
    assert.deepEqual(fields(planned, `v1/ConfigMap/${name}/kept`), [
      { name: 'data.a', before: '1', after: '2' },
      { name: 'data.b', after: '3' },
    ]);
    assert.deepEqual(fields(planned, `apps/v1/Deployment/${name}/web`), [
      { name: 'spec.replicas', before: 1, after: 3 },
    ]);
    assert.match(planned.log('k8s:diff'), /^ {4}spec\.replicas: 1 → 3$/m);
    assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
    assert.equal(applied.outcome.resourceCount, 2);
    const left = await kubectl(['get', 'configmaps', '-l', 'envarium-environment-id', '-o', 'name']);
    assert.equal(left, 'configmap/kept\n');
  },
);

test(
  'what is changed, removed and added by hand is drift, and the next deployment repairs it',
  needs,
  async (t) => {
    const stage = await stageOf(t, {
      'a.yaml': manifests(configMap('changed', { a: '1' }), configMap('removed', { a: '1' })),
      'b.yaml': manifests(configMap('same', { a: '1' }), configMap('newer', { a: '1' })),
    });
    const { name, kubectl } = stage.namespace;
    await stage.deploy();
    const clean = await stage.run(stage.job({ type: 'driftDetection' }));
    assert.deepEqual(clean.outcome.plan?.resourceChanges, []);
    await kubectl(['patch', 'configmap', 'changed', '-p', '{"data":{"a":"by hand"}}']);
    await kubectl(['delete', 'configmap', 'removed']);
    const id = stage.job().environmentId;
    await kubectl(
      ['apply', '-f', '-'],
      manifests(configMap('added', {}, { labels: { 'envarium-environment-id': id } })),
    );
    stage.setup.commit({
      'b.yaml': manifests(configMap('same', { a: '1' }), configMap('newer', { a: '2' })),
    });
    const drifted = await stage.run(stage.job({ type: 'driftDetection' }));
    assert.deepEqual(changes(drifted), {
      [`v1/ConfigMap/${name}/changed`]: 'update (drift)',
      [`v1/ConfigMap/${name}/removed`]: 'create (drift)',
      [`v1/ConfigMap/${name}/newer`]: 'update',
      [`v1/ConfigMap/${name}/added`]: 'delete (drift)',
    });
    assert.deepEqual(fields(drifted, `v1/ConfigMap/${name}/changed`), [
      { name: 'data.a', before: 'by hand', after: '1' },
    ]);
    const { applied } = await stage.deploy();
    assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
    const values = await kubectl([
      'get',
      'configmaps',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name}={.data.a} {end}',
    ]);
    assert.match(values, /^added= changed=1 .*newer=2 removed=1 same=1/);
  },
);

test('values of Secrets and of sensitive variables are neither in plans nor in logs', needs, async (t) => {
  const kustomization = `resources: [a.yaml]
secretGenerator:
  - name: generated
    files: [key=.envarium/variables/KEY]
    options: { disableNameSuffixHash: true }
`;
  const terraform = [{ name: 'KEY', value: 'first line\nplanted-three', isSensitive: true }];
  const stage = await stageOf(
    t,
    {
      'kustomization.yaml': kustomization,
      'a.yaml': manifests(
        secret('keys', { a: 'planted-one', same: 'x' }),
        configMap('plain', { a: 'planted-three' }),
      ),
    },
    { variables: { environment: [noWait], terraform } },
  );
  const secrets = ['first line\nplanted-three', 'planted-three'];
  const first = await stage.deploy({ secrets });
  assert.equal(first.applied.outcome.result, 'applied', JSON.stringify(first.applied.outcome));
  stage.setup.commit({
    'a.yaml': manifests(
      secret('keys', { a: 'planted-two', same: 'x' }),
      configMap('plain', { a: 'planted-three' }),
    ),
  });
  const second = await stage.deploy({ secrets });
  const { name, kubectl } = stage.namespace;
  assert.deepEqual(fields(second.planned, `v1/Secret/${name}/keys`), [
    { name: 'data.a', before: '(sensitive)', after: '(sensitive)' },
  ]);
  for (const ran of [first.planned, first.applied, second.planned, second.applied])
    for (const text of [JSON.stringify(ran.outcome.plan), ran.log('k8s:diff'), ran.log('k8s:apply')])
      for (const value of [
        'planted',
        Buffer.from('planted-one').toString('base64'),
        Buffer.from('planted-two').toString('base64'),
      ])
        assert.ok(!text?.includes(value), `${value}: ${text}`);
  const value = await kubectl(['get', 'secret', 'generated', '-o', 'jsonpath={.data.key}']);
  assert.equal(Buffer.from(value, 'base64').toString(), 'first line\nplanted-three');
});

test('an apply that fails half-way is recorded, and the next one continues', needs, async (t) => {
  const stage = await stageOf(t, { 'a.yaml': manifests(configMap('first', {}), deployment('second')) });
  const { kubectl, refuse } = stage.namespace;
  const planned = await stage.run(stage.job());
  const refusal = await refuse({ resources: ['deployments'], message: 'No deployments on Fridays.' });
  const failed = await stage.apply(planned);
  assert.match(failureMessageOf(failed), /No deployments on Fridays\./);
  assert.equal(failed.outcome.failedCommand, 'kubectl apply (objects, new)');
  assert.match(failed.log('k8s:apply'), /configmap\/first serverside-applied/);
  const refused = await stage.run(stage.job());
  assert.match(failureMessageOf(refused), /No deployments on Fridays\./);
  await refusal[Symbol.asyncDispose]();
  const next = await stage.deploy();
  assert.deepEqual(Object.values(changes(next.planned)), ['create']);
  assert.equal(next.applied.outcome.result, 'applied', JSON.stringify(next.applied.outcome));
  const destroying = await stage.run(stage.job({ type: 'destroy' }));
  await expectResult('applied', stage.apply(destroying));
  assert.equal(await kubectl(['get', 'deployments', '-o', 'name']), '');
});

test(
  'a rollout that does not end in time fails, names the limit, and shows pods and warnings',
  needs,
  async (t) => {
    const waits = { name: 'ENVARIUM_K8S_WAIT_SECONDS', value: '2', isSensitive: false };
    const stage = await stageOf(
      t,
      { 'a.yaml': manifests(deployment('web')) },
      { variables: { environment: [waits], terraform: [] } },
    );
    const { applied } = await stage.deploy();
    assert.match(failureMessageOf(applied), /deployment "web" rollout.*ENVARIUM_K8S_WAIT_SECONDS/s);
    assert.equal(applied.outcome.failedCommand, 'kubectl rollout status (at most 2 s)');
    assert.match(applied.log('k8s:apply'), /^web-\S+ +0\/1 +Pending/m);
    assert.equal(applied.outcome.resourceCount, 1);
    const destroying = await stage.run(stage.job({ type: 'destroy' }));
    assert.deepEqual(Object.values(changes(destroying)), ['delete']);
  },
);

test('an abort while a deployment waits leaves what was applied recorded', needs, async (t) => {
  const waits = { name: 'ENVARIUM_K8S_WAIT_SECONDS', value: '60', isSensitive: false };
  const stage = await stageOf(
    t,
    { 'a.yaml': manifests(deployment('web')) },
    { variables: { environment: [waits], terraform: [] } },
  );
  const planned = await stage.run(stage.job());
  const running = stage.start(stage.setup.applyJob(planned));
  const log = running.spool.stepLog('k8s:apply');
  await running.until(() => /Waiting for deployment/.test(textOf(log)), 'the deployment waits');
  running.abort('gently');
  const aborted = await expectResult('aborted', running.ended);
  const state = stage.setup.newestState(aborted);
  const again = await stage.run(stage.job(), { state });
  assert.deepEqual(again.outcome.plan?.resourceChanges, []);
});

test('a failed apply is repeated as the template asks', needs, async (t) => {
  const stage = await stageOf(t, { 'a.yaml': manifests(deployment('web')) });
  const planned = await stage.run(stage.job());
  const refusal = await stage.namespace.refuse({ resources: ['deployments'], message: 'Try again.' });
  const job = stage.setup.applyJob(planned, { changes: { retry: { times: 50, isReviewed: true } } });
  const running = stage.start(job);
  await running.until(
    () => /Retry 1 of 50/.test(textOf(running.spool.stepLog('k8s:apply'))),
    'the first failure',
  );
  await refusal[Symbol.asyncDispose]();
  await expectResult('applied', running.ended);
});

test('a task has kubectl and the cluster of the environment', needs, async (t) => {
  const stage = await stageOf(t, { 'a.yaml': manifests(configMap('first', {})) });
  await stage.deploy();
  const ran = await stage.run(
    stage.job({ type: 'task', taskPayload: 'kubectl get configmap first -o name' }),
  );
  assert.equal(ran.outcome.result, 'applied', JSON.stringify(ran.outcome));
  assert.match(ran.log('task:run'), /^configmap\/first$/m);
});

test(
  'a deployment makes the namespace and the kinds that its objects need, and a destroy leaves the namespace',
  needs,
  async (t) => {
    const shared = await cluster();
    const suffix = randomBytes(4).toString('hex');
    const group = `test-${suffix}.example`;
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `shops.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'shops', singular: 'shop', kind: 'Shop' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    };
    const shop = { apiVersion: `${group}/v1`, kind: 'Shop', metadata: { name: 'one' }, spec: { size: 1 } };
    const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `declared-${suffix}` } };
    const inside = configMap('inside', {}, { namespace: `declared-${suffix}` });
    const made = `made-${suffix}`;
    const stage = await stageOf(
      t,
      { 'a.yaml': manifests(shop, inside, definition, own, configMap('plain', {})) },
      {
        systemVariables: { ENVARIUM_K8S_NAMESPACE: made },
        variables: {
          environment: [
            { name: 'ENVARIUM_K8S_CREATE_NAMESPACE', value: 'true', isSensitive: false },
            { name: 'ENVARIUM_K8S_WAIT_SECONDS', value: '30', isSensitive: false },
          ],
        },
      },
    );
    t.after(() => shared.kubectl(['delete', 'namespace', made, '--wait=false']));
    const { planned, applied } = await stage.deploy();
    assert.deepEqual(changes(planned), {
      [`v1/Namespace/${made}`]: 'create',
      [`v1/Namespace/declared-${suffix}`]: 'create',
      [`v1/ConfigMap/declared-${suffix}/inside`]: 'create',
      [`v1/ConfigMap/${made}/plain`]: 'create',
      [`apiextensions.k8s.io/v1/CustomResourceDefinition/shops.${group}`]: 'create',
      [`${group}/v1/Shop/${made}/one`]: 'create',
    });
    assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
    const again = await stage.run(stage.job());
    assert.deepEqual(again.outcome.plan?.resourceChanges, []);

    stage.setup.commit({
      'a.yaml': manifests({ ...shop, spec: { size: 1, colour: 'red' } }, inside, definition, own),
    });
    const wrong = await stage.run(stage.job());
    assert.match(failureMessageOf(wrong), /\.spec\.colour: field not declared in schema/);

    await shared.kubectl(['delete', 'crd', `shops.${group}`]);
    const destroying = await stage.run(stage.job({ type: 'destroy' }));
    assert.deepEqual(changes(destroying), {
      [`v1/Namespace/declared-${suffix}`]: 'delete',
      [`v1/ConfigMap/declared-${suffix}/inside`]: 'delete',
      [`v1/ConfigMap/${made}/plain`]: 'delete',
    });
    await expectResult('applied', stage.apply(destroying));
    await shared.kubectl(['get', 'namespace', made]);
    await assert.rejects(shared.kubectl(['get', 'namespace', `declared-${suffix}`]));
  },
);

test('a run that is killed while it applies has left a record of what may exist', needs, async (t) => {
  const waits = { name: 'ENVARIUM_K8S_WAIT_SECONDS', value: '60', isSensitive: false };
  const stage = await stageOf(
    t,
    { 'a.yaml': manifests(deployment('web'), configMap('plain', {})) },
    { variables: { environment: [waits] } },
  );
  const planned = await stage.run(stage.job());
  const running = stage.start(stage.setup.applyJob(planned));
  running.ended.catch(() => undefined);
  await running.until(
    () => /serverside-applied/.test(textOf(running.spool.stepLog('k8s:apply'))),
    'the first object is applied',
  );
  running.child.kill('SIGKILL');
  await once(running.child, 'exit');
  const [newest] = readdirSync(running.spool.states).sort().toReversed();
  const state = readFileSync(join(running.spool.states, newest ?? ''));
  const destroying = await stage.run(stage.job({ type: 'destroy' }), { state });
  await expectResult('applied', stage.apply(destroying));
  const left = ['get', 'deployments,configmaps', '-l', 'envarium-environment-id', '-o', 'name'];
  assert.equal(await stage.namespace.kubectl(left), '');
});

test('nothing is recorded before the service knows that the run may change something', needs, async (t) => {
  const stage = await stageOf(t, { 'a.yaml': manifests(configMap('plain', {})) });
  const planned = await stage.run(stage.job());
  const running = stage.start(stage.setup.applyJob(planned), { mark: false });
  await running.until(() => readMark(running.spool) !== null, 'the start mark is written');
  assert.deepEqual(readdirSync(running.spool.states), []);
  writeFileSync(running.spool.markStored, readMark(running.spool)?.mark ?? '');
  await expectResult('applied', running.ended);
  assert.equal(readdirSync(running.spool.states).length, 2);
});

test('plans that are never applied change nothing, and find the same', needs, async (t) => {
  const stage = await stageOf(t, { 'a.yaml': manifests(configMap('first', {})) });
  for (const type of ['dryRun', 'prPlan'] as const) {
    const { outcome } = await stage.run(stage.job({ type }));
    assert.deepEqual(outcome.planSummary, { added: 1, changed: 0, destroyed: 0 }, JSON.stringify(outcome));
    assert.equal(outcome.approvedParts, undefined);
  }
  assert.doesNotMatch(await stage.namespace.kubectl(['get', 'configmaps', '-o', 'name']), /first/);
});

const kustomize = toolboxProgram('kustomize');

test('manifests are rendered by the requested version of kustomize', {
  skip: needs.skip || withToolbox('kustomize').skip,
}, async (t) => {
  const version = execFileSync(kustomize ?? '', ['version'], { encoding: 'utf8' })
    .trim()
    .replace(/^v/, '');
  const environment = [noWait, { name: 'ENVARIUM_KUSTOMIZE_VERSION', value: version, isSensitive: false }];
  const stage = await stageOf(
    t,
    {
      'kustomization.yaml': 'namePrefix: my-\nresources: [a.yaml]\n',
      'a.yaml': manifests(configMap('first', {})),
    },
    { variables: { environment } },
  );
  const programs = { kubectl: findProgram('kubectl') ?? '', git: findProgram('git') ?? '' };
  const ran = await stage.run(stage.job(), { toolPaths: { ...programs, kustomize: kustomize ?? '' } });
  assert.deepEqual(Object.keys(changes(ran)), [`v1/ConfigMap/${stage.namespace.name}/my-first`]);
  assert.ok(ran.events.some((event) => event.kind === 'process' && event.label === 'kustomize build'));
});
