/** Ownership on a real cluster: nothing of others is taken or deleted, and nothing of ours is forgotten. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../tools/suite/until.ts';
import { sharedCluster, withCluster } from '../../../testing/cluster/cluster.ts';
import { clusterStage, type StageOptions } from '../../../testing/cluster/stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';

const needs = withCluster();
const cluster = sharedCluster();
const noWait = { name: 'ENVARIUM_K8S_WAIT_SECONDS', value: '0', isSensitive: false };

async function stageOf(t: TestContext, files: Record<string, string>, options: StageOptions = {}) {
  const variables = { environment: [noWait], terraform: [] };
  return clusterStage(t, await cluster(), files, 'k8s', { variables, ...options });
}

function configMap(name: string, data: Record<string, string>): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })}\n`;
}

/** A kind with two versions, and an object of it. */
function customKind(served: readonly string[]) {
  const group = `test-${randomBytes(4).toString('hex')}.example`;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const definition = (versions: readonly string[]) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `shops.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'shops', singular: 'shop', kind: 'Shop' },
      versions: ['v1', 'v1alpha1'].map((name) => ({
        name,
        served: versions.includes(name),
        storage: name === 'v1',
        schema: { openAPIV3Schema },
      })),
    },
  });
  const shop = {
    apiVersion: `${group}/v1alpha1`,
    kind: 'Shop',
    metadata: { name: 'one' },
    spec: { size: 1 },
  };
  return { group, definition, shop: `${JSON.stringify(shop)}\n`, text: JSON.stringify(definition(served)) };
}

test('custom objects that a user may not read any more are not forgotten', needs, async (t) => {
  const { kubectl } = await cluster();
  const { group, shop, text } = customKind(['v1', 'v1alpha1']);
  await kubectl(['apply', '--filename=-'], text);
  t.after(() => kubectl(['delete', 'crd', `shops.${group}`, '--wait=false']));
  await kubectl(['wait', '--for=condition=Established', `crd/shops.${group}`]);
  const stage = await stageOf(t, { 'a.json': shop });
  assert.equal((await stage.deploy()).applied.outcome.result, 'applied');
  const restricted = {
    name: 'ENVARIUM_KUBECONFIG',
    value: stage.namespace.restrictedKubeconfig(),
    isSensitive: true,
  };
  const destroying = await stage.run(
    stage.job({ type: 'destroy', variables: { environment: [restricted, noWait], terraform: [] } }),
  );
  assert.match(failureMessageOf(destroying), /forbidden/);
});

test('objects of a version that the cluster no longer serves are deleted in another', needs, async (t) => {
  const { kubectl } = await cluster();
  const { group, definition, shop, text } = customKind(['v1', 'v1alpha1']);
  await kubectl(['apply', '--filename=-'], text);
  t.after(() => kubectl(['delete', 'crd', `shops.${group}`, '--wait=false']));
  await kubectl(['wait', '--for=condition=Established', `crd/shops.${group}`]);
  const stage = await stageOf(t, { 'a.json': shop });
  assert.equal((await stage.deploy()).applied.outcome.result, 'applied');
  await kubectl(['apply', '--filename=-'], JSON.stringify(definition(['v1'])));
  const served = async () => (await kubectl(['api-resources', `--api-group=${group}`])).includes('v1alpha1');
  await until('the end of the older version', async () => !(await served()));
  const destroying = await stage.run(stage.job({ type: 'destroy' }));
  assert.deepEqual(
    destroying.outcome.planSummary,
    { added: 0, changed: 0, destroyed: 1 },
    JSON.stringify(destroying.outcome),
  );
  await expectResult('applied', stage.apply(destroying));
  assert.equal(await stage.namespace.kubectl(['get', `shops.${group}`, '-o', 'name']), '');
});
test(
  'of two environments that were approved to make the same object, the second is refused',
  needs,
  async (t) => {
    const stage = await stageOf(t, { 'a.json': configMap('settings', { a: '1' }) });
    const other = '00000000-0000-7000-8000-0000000000e2';
    const first = await stage.run(stage.job(), { state: null });
    const second = await stage.run(stage.job({ environmentId: other }), { state: null });
    const run = (planned: typeof first) => stage.run(stage.setup.applyJob(planned), { state: null });
    await expectResult('applied', run(first));
    const refused = await run(second);
    assert.match(failureMessageOf(refused), /belongs to the environment "\S+e1".*another name or namespace/s);
  },
);

test(
  'what a failed deployment has not changed yet is not drift, and what others change later is',
  needs,
  async (t) => {
    const stage = await stageOf(t, { 'a.json': configMap('settings', { a: '1' }) });
    const { name, kubectl, refuse } = stage.namespace;
    await stage.deploy();
    stage.setup.commit({ 'a.json': configMap('settings', { a: '2' }) });
    const planned = await stage.run(stage.job());
    const refusal = await refuse({ resources: ['configmaps'], message: 'No settings today.' });
    await expectResult('failed', stage.apply(planned));
    await refusal[Symbol.asyncDispose]();
    const drift = async () => {
      const { outcome } = await stage.run(stage.job({ type: 'driftDetection' }));
      return outcome.plan?.resourceChanges.map(({ path, action, driftByCloud }) => [
        path,
        action,
        driftByCloud,
      ]);
    };
    assert.deepEqual(await drift(), [[`v1/ConfigMap/${name}/settings`, 'update', undefined]]);
    assert.equal((await stage.deploy()).applied.outcome.result, 'applied');
    await kubectl(['patch', 'configmap', 'settings', '-p', '{"data":{"a":"by hand"}}']);
    assert.deepEqual(await drift(), [[`v1/ConfigMap/${name}/settings`, 'update', true]]);
  },
);
