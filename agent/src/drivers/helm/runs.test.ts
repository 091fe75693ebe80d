/** Plans and applies charts with the real runner, helm and cluster. */
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
const secret = { ...plain('password', 'a very secret text'), isSensitive: true };

for (const onOtherMachine of [false, true]) {
  test(
    `a chart is planned and applied, ${onOtherMachine ? 'on another machine' : 'in the kept tree'}`,
    needs,
    async (t) => {
      const stage = await helmStage(t, await cluster());
      stage.namespace.playReadiness();
      const values = [plain('image.tag', '1.28'), plain('replicas', '2', { format: 'JSON' }), secret];
      const planned = await expectResult(
        'planned',
        stage.run(stage.job({ secrets: [secret.value] }, { values })),
      );
      assert.deepEqual(planned.outcome.planSummary, { added: 4, changed: 0, destroyed: 0 });
      assert.deepEqual(planned.outcome.moduleVersions, { greeting: '1.2.0' });
      const row = rowOf(planned, 'apps/v1/Deployment/shop');
      assert.match(JSON.stringify(row?.attributes), /"replicas":2.*nginx:1\.28/);
      assert.match(planned.log('helm:diff'), /^\+ v1\/Secret\/.*\/shop-password$/m);
      const applied = await expectResult(
        'applied',
        stage.run(stage.setup.applyJob(planned, { onOtherMachine })),
      );
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
        assert.ok(
          !text.includes(secret.value) && !text.includes(Buffer.from(secret.value).toString('base64')),
        );
    },
  );
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
    'v1/ConfigMap/kept': 'metadata',
    'v1/Secret/shop-password': 'update',
    'v1/Service/shop': 'delete',
  });
  assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 3, destroyed: 1, forgotten: 1 });
  assert.match(rowOf(planned, 'v1/ConfigMap/kept')?.actionReason ?? '', /: keep: it stays in the cluster/);
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

test('drift names what was changed or removed by hand, and what the code would change', needs, async (t) => {
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

test('a destroy lists what it deletes and what stays, and leaves nothing else', needs, async (t) => {
  const kept =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations:\n    helm.sh/resource-policy: keep\n';
  const stage = await helmStage(t, await cluster(), { ...exampleChart(), 'templates/kept.yaml': kept });
  stage.namespace.playReadiness();
  await stage.deploy(stage.job({}, { values: [secret] }));
  // A destroy works whatever has become of the code.
  stage.setup.commit({ 'Chart.yaml': null });
  const { planned, applied } = await stage.deploy(stage.job({ type: 'destroy' }));
  assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 4, forgotten: 1 });
  assert.equal(rowOf(planned, 'v1/ConfigMap/kept')?.kind, 'forget');
  assert.equal(applied.steps()['helm:uninstall'], 'SUCCESS');
  assert.equal(await stage.helm(['list', '--all', '--short']), '');
  const rest = await stage.namespace.kubectl(['get', 'deployments,services,secrets', '-o', 'name']);
  assert.equal(rest, '');
  await stage.namespace.kubectl(['get', 'configmap', 'kept']);
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
  const planned = await expectResult('planned', stage.run(stage.job()));
  await stage.namespace.kubectl(['create', 'configmap', 'outside', '--from-literal=text=other']);
  const stopped = await stage.run(stage.setup.applyJob(planned));
  assert.match(
    failureMessageOf(stopped),
    /differs from what was approved \(the chart renders otherwise: v1\/ConfigMap\/\S+\/looked-up \(data\.text\)\), and nothing was applied: deploy again/,
  );
  assert.equal(await stage.helm(['list', '--all', '--short']), '');
  await stage.deploy();
});

test('an apply stops if the release was changed since the plan', needs, async (t) => {
  const stage = await helmStage(t, await cluster());
  stage.namespace.playReadiness();
  await stage.deploy();
  const planned = await stage.run(stage.job({}, { values: [plain('greeting', 'Bye')] }));
  await stage.helm(['rollback', 'shop', '1']);
  const stopped = await stage.run(stage.setup.applyJob(planned));
  assert.match(
    failureMessageOf(stopped),
    /\(the release is at revision 2 and was at 1\), and nothing was applied/,
  );
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
      failureMessageOf(refused),
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
    assert.match(failureMessageOf(failed), /values\/three\.yaml: no such file/);
  },
);

test(
  'hooks run once for each deployment, and what they leave or delete is neither change nor drift',
  needs,
  async (t) => {
    const hook = (kind: string, apiVersion: string, name: string, policy: string, spec: string) =>
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n  annotations:\n    helm.sh/hook: pre-install,pre-upgrade\n    ` +
      `helm.sh/hook-delete-policy: ${policy}\n${spec}`;
    const migrate = (image: string) =>
      hook(
        'Job',
        'batch/v1',
        'migrate',
        'hook-succeeded',
        `spec: { template: { spec: { restartPolicy: Never, containers: [{ name: migrate, image: "${image}" }] } } }\n`,
      );
    const stage = await helmStage(t, await cluster(), {
      ...exampleChart(),
      'templates/migrate.yaml': migrate('example.test/migrate:1'),
      'templates/settings.yaml': hook(
        'ConfigMap',
        'v1',
        'settings',
        'before-hook-creation',
        'data: { a: one }\n',
      ),
    });
    stage.namespace.playReadiness();
    const hooks = { 'hook batch/v1/Job/migrate': 'metadata', 'hook v1/ConfigMap/settings': 'metadata' };
    const { planned } = await stage.deploy();
    assert.deepEqual(actionsOf(planned), {
      'apps/v1/Deployment/shop': 'create',
      'v1/ConfigMap/shop-page': 'create',
      'v1/Service/shop': 'create',
      ...hooks,
    });
    const { kubectl } = stage.namespace;
    const left = async () => {
      await kubectl(['get', 'configmap', 'settings']);
      return await kubectl(['get', 'jobs', '-o', 'name']);
    };
    assert.equal(await left(), '');
    const expectNothing = async () => {
      const same = await stage.run(stage.job());
      assert.deepEqual([same.outcome.hasChanges, actionsOf(same)], [false, {}]);
      const drift = await stage.run(stage.job({ type: 'driftDetection' }));
      assert.deepEqual([drift.outcome.hasResourceChanges, actionsOf(drift)], [false, {}]);
    };
    await expectNothing();
    stage.setup.commit({ 'templates/migrate.yaml': migrate('example.test/migrate:2') });
    const changed = await stage.deploy();
    assert.deepEqual(actionsOf(changed.planned), { 'hook batch/v1/Job/migrate': 'metadata' });
    assert.equal(rowOf(changed.planned, 'hook batch/v1/Job/migrate')?.kind, 'invoke');
    assert.equal(await left(), '');
    // Objects of hooks belong to no release: their loss is not drift.
    await kubectl(['delete', 'configmap', 'settings']);
    await expectNothing();
  },
);
