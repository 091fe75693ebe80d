/** Plans and applies charts with the real runner, helm and cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedCluster } from '../../testing/cluster/cluster.ts';
import {
  actionsOf,
  exampleChart,
  helmStage,
  plain,
  rowOf,
  withHelm,
} from '../../testing/charts/helm-stage.ts';

const needs = withHelm();
const cluster = sharedCluster();
const secret = { ...plain('password', 'a very secret text'), isSensitive: true };

for (const travels of [false, true]) {
  test(`a chart is planned and applied, ${travels ? 'elsewhere' : 'on the kept tree'}`, needs, async (t) => {
    const stage = await helmStage(t, await cluster());
    stage.namespace.playReadiness();
    const values = [plain('image.tag', '1.28'), plain('replicas', '2', { format: 'JSON' }), secret];
    const planned = await stage.run(stage.job({ secrets: [secret.value] }, { values }));
    assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome));
    assert.deepEqual(planned.outcome.planSummary, { added: 4, changed: 0, destroyed: 0 });
    assert.deepEqual(planned.outcome.moduleVersions, { greeting: '1.2.0' });
    const row = rowOf(planned, 'apps/v1/Deployment/shop');
    assert.match(JSON.stringify(row?.attributes), /"replicas":2.*nginx:1\.28/);
    assert.match(planned.log('helm:diff'), /^\+ v1\/Secret\/.*\/shop-password$/m);
    const applied = await stage.run(stage.setup.applyJob(planned, { travels }));
    assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
    const outputs = Object.entries(applied.outcome.outputs ?? {}).map(([name, { value }]) => [name, value]);
    assert.deepEqual(Object.fromEntries(outputs), {
      release: 'shop',
      namespace: stage.namespace.name,
      revision: 1,
      status: 'deployed',
      chart: 'greeting',
      chartVersion: '1.2.0',
      appVersion: '1.27',
      notes: `shop greets at http://shop.${stage.namespace.name} with "Hello".`,
    });
    assert.equal(applied.outcome.resourceCount, 4);
    assert.match(applied.log('helm:upgrade'), /Scaled up replica set/);
    for (const text of [planned, applied].flatMap((ran) => [
      JSON.stringify(ran.outcome),
      ran.log('helm:diff'),
      ran.log('helm:upgrade'),
    ]))
      assert.ok(!text.includes(secret.value) && !text.includes(Buffer.from(secret.value).toString('base64')));
  });
}

test('a change names fields before and after, and what the chart has no more', needs, async (t) => {
  const chart = exampleChart();
  const stage = await helmStage(t, await cluster(), {
    ...chart,
    'templates/extra.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  labels:\n    team: red\ndata:\n  one: "1"\n  two: "2"\n',
    'templates/kept.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations:\n    helm.sh/resource-policy: keep\n',
  });
  stage.namespace.playReadiness();
  const values = [{ ...secret }];
  await stage.deploy(stage.job({}, { values }));
  const same = await stage.run(stage.job({}, { values }));
  assert.deepEqual([same.outcome.hasChanges, actionsOf(same)], [false, {}]);
  stage.setup.commit({
    'templates/extra.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\ndata:\n  one: "1"\n',
    'templates/kept.yaml': null,
    'templates/service.yaml': null,
  });
  const other = [{ ...secret, value: 'another secret text' }, plain('replicas', '2', { format: 'JSON' })];
  const { planned, applied } = await stage.deploy(stage.job({}, { values: other }));
  assert.deepEqual(actionsOf(planned), {
    'apps/v1/Deployment/shop': 'update',
    'v1/ConfigMap/extra': 'update',
    'v1/Secret/shop-password': 'update',
    'v1/Service/shop': 'delete',
  });
  assert.deepEqual(rowOf(planned, 'apps/v1/Deployment/shop')?.attributes, [
    { name: 'spec.replicas', before: 1, after: 2 },
  ]);
  assert.deepEqual(rowOf(planned, 'v1/ConfigMap/extra')?.attributes, [
    { name: 'data.two', before: '2' },
    { name: 'metadata.labels.team', before: 'red' },
  ]);
  assert.deepEqual(rowOf(planned, 'v1/Secret/shop-password')?.attributes, [
    { name: 'data.password', before: '(sensitive)', after: '(sensitive)' },
  ]);
  const { kubectl } = stage.namespace;
  const live = JSON.parse(await kubectl(['get', 'configmap', 'extra', '-o', 'json']));
  assert.deepEqual([live.data, live.metadata.labels.team], [{ one: '1' }, undefined]);
  await kubectl(['get', 'configmap', 'kept']);
  await assert.rejects(kubectl(['get', 'service', 'shop']), { stderr: /NotFound/ });
  const events = applied.events.filter((event) => event.kind === 'resource');
  assert.ok(events.some(({ type, action }) => type === 'Service' && action === 'delete'));
  assert.equal((await stage.run(stage.job({}, { values: other }))).outcome.hasChanges, false);
});

test('drift names what somebody has changed or removed, and what the code would change', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  stage.namespace.playReadiness();
  await stage.deploy();
  const drift = () => stage.run(stage.job({ type: 'driftDetection' }));
  assert.equal((await drift()).outcome.hasResourceChanges, false);
  const { kubectl } = stage.namespace;
  await kubectl(['scale', 'deployment', 'shop', '--replicas=3']);
  await kubectl(['delete', 'configmap', 'shop-page']);
  await kubectl(['annotate', 'service', 'shop', 'somebody=else']);
  stage.setup.commit({ 'templates/more.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\n' });
  const found = await drift();
  assert.deepEqual(actionsOf(found), {
    'apps/v1/Deployment/shop': 'update',
    'v1/ConfigMap/shop-page': 'create',
    'v1/ConfigMap/more': 'create',
  });
  const scaled = rowOf(found, 'apps/v1/Deployment/shop');
  assert.deepEqual(scaled?.attributes, [{ name: 'spec.replicas', before: 3, after: 1 }]);
  assert.deepEqual(
    ['apps/v1/Deployment/shop', 'v1/ConfigMap/shop-page', 'v1/ConfigMap/more'].map(
      (path) => rowOf(found, path)?.driftByCloud,
    ),
    [true, true, undefined],
  );
  await stage.deploy();
  assert.equal((await drift()).outcome.hasResourceChanges, false);
});

test('a destroy lists what it deletes, and leaves nothing', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  stage.namespace.playReadiness();
  await stage.deploy(stage.job({}, { values: [secret] }));
  // A destroy works whatever has become of the code.
  stage.setup.commit({ 'Chart.yaml': null });
  const { planned, applied } = await stage.deploy(stage.job({ type: 'destroy' }));
  assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 4 });
  assert.equal(applied.steps()['helm:uninstall'], 'SUCCESS');
  assert.equal(await stage.helm(['list', '--all', '--short']), '');
  const rest = await stage.namespace.kubectl(['get', 'deployments,services,secrets', '-o', 'name']);
  assert.equal(rest, '');
  const again = await stage.deploy(stage.job({ type: 'destroy' }));
  assert.equal(again.planned.outcome.hasChanges, false);
});

test('an apply stops if the chart renders otherwise than it was approved', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), {
    ...exampleChart(),
    'templates/looked-up.yaml': `{{- $found := lookup "v1" "ConfigMap" .Release.Namespace "outside" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: looked-up
data:
  text: {{ if $found }}{{ $found.data.text }}{{ else }}nothing{{ end }}
`,
  });
  stage.namespace.playReadiness();
  const planned = await stage.run(stage.job());
  assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome));
  await stage.namespace.kubectl(['create', 'configmap', 'outside', '--from-literal=text=other']);
  const stopped = await stage.run(stage.setup.applyJob(planned));
  assert.equal(stopped.outcome.result, 'failed');
  assert.match(
    stopped.outcome.error?.message ?? '',
    /differs from what was approved \(the chart renders otherwise: v1\/ConfigMap\/\S+\/looked-up \(data\.text\)\), and nothing was applied: deploy again/,
  );
  assert.equal(await stage.helm(['list', '--all', '--short']), '');
  await stage.deploy();
});

test('an apply stops if somebody has worked on the release since the plan', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  stage.namespace.playReadiness();
  await stage.deploy();
  const planned = await stage.run(stage.job({}, { values: [plain('greeting', 'Bye')] }));
  await stage.helm(['rollback', 'shop', '1']);
  const stopped = await stage.run(stage.setup.applyJob(planned));
  assert.match(
    stopped.outcome.error?.message ?? '',
    /\(the release is at revision 2 and was at 1\), and nothing was applied/,
  );
});

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
  assert.equal((await stage.run(stage.setup.applyJob(again))).outcome.result, 'applied');
});

test('types that only plan change nothing', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  for (const type of ['prPlan', 'dryRun'] as const) {
    const planned = await stage.run(stage.job({ type }));
    assert.deepEqual(planned.outcome.planSummary, { added: 3, changed: 0, destroyed: 0 }, type);
  }
  assert.equal(await stage.helm(['list', '--all', '--short']), '');
});

test('a task uses helm and kubectl with the cluster of the environment', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  const taskPayload =
    'helm list --all --short; kubectl auth whoami -o name; echo $HELM_NAMESPACE; helm template . | head -1';
  const environment = [plain('HELM_NAMESPACE', stage.namespace.name)];
  const done = await stage.run(stage.job({ type: 'task', taskPayload }, { environment }));
  assert.equal(done.outcome.result, 'applied', JSON.stringify(done.outcome) + done.log('task:run'));
  assert.match(done.log('task:run'), new RegExp(`^${stage.namespace.name}$`, 'm'));
});

test('a namespace is created on request', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  const name = `${stage.namespace.name}-new`;
  const { kubectl } = await cluster();
  t.after(() => kubectl(['delete', 'namespace', name, '--ignore-not-found', '--wait=false']));
  const systemVariables = { ENVARIUM_K8S_NAMESPACE: name };
  const missing = await stage.run(stage.job({ systemVariables }));
  assert.match(
    missing.outcome.error?.message ?? '',
    /namespaces "\S+-new" not found[^]*ENVARIUM_K8S_CREATE_NAMESPACE/,
  );
  const environment = [plain('ENVARIUM_K8S_CREATE_NAMESPACE', 'true')];
  const values = [plain('replicas', '0', { format: 'JSON' })];
  const { planned } = await stage.deploy(stage.job({ systemVariables }, { environment, values }));
  assert.equal(actionsOf(planned)[`v1/Namespace/${name}`], 'create');
  assert.equal(planned.outcome.planSummary?.added, 4);
  assert.match(await stage.helm(['list', '--namespace', name, '--short']), /^shop$/m);
  const again = await stage.run(stage.job({ systemVariables }, { environment, values }));
  assert.equal(again.outcome.hasChanges, false);
});

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

test(
  'files of the repository give values, variables override them, and --set overrides all',
  needs,
  async (t) => {
    const stage = await helmStage(t, await cluster(), {
      ...exampleChart(),
      'values/one.yaml': 'greeting: one\nreplicas: 2\nimage: { tag: file }\n',
      'values/two.yaml': 'greeting: two\n',
    });
    const environment = [
      plain('ENVARIUM_HELM_VALUES_FILES', 'values/one.yaml, values/two.yaml'),
      plain('ENVARIUM_HELM_SET_image.tag', 'set-${ENVARIUM_ENVIRONMENT_NAME}'),
      plain('ENVARIUM_HELM_SET_password', '{{ text }}'),
    ];
    const values = [
      plain('image', '{ repository = "example.test/web", tag = "variable" }', { format: 'HCL' }),
    ];
    const systemVariables = { ENVARIUM_ENVIRONMENT_NAME: 'first' };
    const refused = await stage.run(stage.job({ systemVariables }, { environment, values }));
    // A list in braces, as --set reads it.
    assert.match(
      refused.outcome.error?.message ?? '',
      /password[^]*Expected: string, given: array|got array, want string/i,
    );
    const planned = await stage.run(
      stage.job({ systemVariables }, { environment: environment.slice(0, 2), values }),
    );
    assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome));
    const text = JSON.stringify(rowOf(planned, 'apps/v1/Deployment/shop')?.attributes);
    assert.match(text, /"replicas":2.*"image":"example\.test\/web:set-first"/);
    const page = JSON.stringify(rowOf(planned, 'v1/ConfigMap/shop-page')?.attributes);
    assert.match(page, /two from shop/);
    const missing = [plain('ENVARIUM_HELM_VALUES_FILES', 'values/three.yaml')];
    const failed = await stage.run(stage.job({}, { environment: missing }));
    assert.match(failed.outcome.error?.message ?? '', /values\/three\.yaml: no such file/);
  },
);
