/** More charts with the real runner, helm and cluster: namespaces, kinds, hooks and random values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actionsOf,
  exampleChart,
  helmStage,
  plain,
  rowOf,
  withHelm,
} from '../../../testing/charts/helm-stage.ts';
import { sharedCluster } from '../../../testing/cluster/cluster.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';

const needs = withHelm();
const cluster = sharedCluster();

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: lamps.test.example
spec:
  group: test.example
  scope: Namespaced
  names: { kind: Lamp, plural: lamps, singular: lamp }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;

test('random values are named and do not stop an apply, and hooks are listed', needs, async (t) => {
  const random = (name: string) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data:
  token: {{ randAlphaNum 20 }}
  same: {{ .Values.greeting }}
`;
  const stage = await helmStage(t, await cluster(), {
    ...exampleChart(),
    'templates/random.yaml': random('random'),
    'templates/random-name.yaml': random('name-{{ randAlphaNum 8 | lower }}'),
    'templates/hook.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: before
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
`,
  });
  stage.namespace.playReadiness();
  const { planned } = await stage.deploy();
  const log = planned.log('helm:diff');
  assert.match(log, /^Hook pre-install,pre-upgrade: v1\/ConfigMap\/\S+\/before$/m);
  assert.match(log, /does not cover: \S+\/name-\w+, \S+\/name-\w+, \S+\/random \(data\.token\)$/m);
  const again = await stage.run(stage.job({}, { values: [plain('greeting', 'Bye')] }));
  await expectResult('applied', stage.run(stage.setup.applyJob(again)));
});

test('types that only plan change nothing', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  for (const type of ['prPlan', 'dryRun'] as const) {
    const planned = await stage.run(stage.job({ type }));
    assert.deepEqual(planned.outcome.planSummary, { added: 3, changed: 0, destroyed: 0 }, type);
  }
  assert.equal(await stage.helm(['list', '--all', '--short']), '');
});

test('a namespace is created on request', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  const name = `${stage.namespace.name}-new`;
  const { kubectl } = await cluster();
  t.after(() => kubectl(['delete', 'namespace', name, '--ignore-not-found', '--wait=false']));
  const systemVariables = { ENVARIUM_K8S_NAMESPACE: name };
  const missing = await stage.run(stage.job({ systemVariables }));
  assert.match(failureMessageOf(missing), /namespaces "\S+-new" not found[^]*ENVARIUM_K8S_CREATE_NAMESPACE/);
  const environment = [plain('ENVARIUM_K8S_CREATE_NAMESPACE', 'true')];
  const values = [plain('replicas', '0', { format: 'JSON' })];
  const { planned } = await stage.deploy(stage.job({ systemVariables }, { environment, values }));
  assert.equal(actionsOf(planned)[`v1/Namespace/${name}`], 'create');
  assert.equal(planned.outcome.planSummary?.added, 4);
  assert.match(await stage.helm(['list', '--namespace', name, '--short']), /^shop$/m);
  const again = await stage.run(stage.job({ systemVariables }, { environment, values }));
  assert.equal(again.outcome.hasChanges, false);
});

test('kinds that a chart defines are planned with its first installation, and stay', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), { ...exampleChart(), 'crds/lamps.yaml': definition });
  const { kubectl } = stage.namespace;
  t.after(() => kubectl(['delete', 'crd', 'lamps.test.example', '--ignore-not-found']));
  stage.namespace.playReadiness();
  const path = 'apiextensions.k8s.io/v1/CustomResourceDefinition/lamps.test.example';
  const { planned } = await stage.deploy();
  assert.equal(actionsOf(planned)[path], 'create');
  const other = 'apiVersion: test.example/v1\nkind: Lamp\nmetadata:\n  name: desk\n';
  stage.setup.commit({ 'templates/lamp.yaml': other });
  const next = await stage.deploy();
  assert.deepEqual(actionsOf(next.planned), { 'test.example/v1/Lamp/desk': 'create' });
  await stage.deploy(stage.job({ type: 'destroy' }));
  await kubectl(['get', 'crd', 'lamps.test.example']);
  assert.equal((await stage.run(stage.job())).outcome.planSummary?.added, 4);
});

test('objects of other namespaces are part of plan, drift and destroy', needs, async (t) => {
  const shared = await cluster();
  const other = await shared.namespace(t);
  const stage = await helmStage(t, shared, {
    ...exampleChart(),
    'templates/other.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: elsewhere\n  namespace: ${other.name}\ndata:\n  one: "1"\n  two: "2"\n`,
  });
  stage.namespace.playReadiness();
  const { planned } = await stage.deploy();
  assert.equal(actionsOf(planned)['v1/ConfigMap/elsewhere'], 'create');
  await other.kubectl(['patch', 'configmap', 'elsewhere', '-p', '{"data":{"one":"3"}}']);
  const drift = await stage.run(stage.job({ type: 'driftDetection' }));
  assert.equal(rowOf(drift, 'v1/ConfigMap/elsewhere')?.driftByCloud, true);
  const destroyed = await stage.deploy(stage.job({ type: 'destroy' }));
  assert.equal(actionsOf(destroyed.planned)['v1/ConfigMap/elsewhere'], 'delete');
  await assert.rejects(other.kubectl(['get', 'configmap', 'elsewhere']), { stderr: /NotFound/ });
});
