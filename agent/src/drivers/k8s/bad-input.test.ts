/** Failures on a real cluster, and the messages of the run. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sharedCluster, type TestNamespace, withCluster } from '../../../testing/cluster/cluster.ts';
import { clusterStage, type Stage } from '../../../testing/cluster/stage.ts';
import { failureMessageOf } from '../../../testing/outcomes.ts';
import { findProgram } from '../../processes/programs.ts';

const needs = withCluster();
const cluster = sharedCluster();

function plain(name: string, value: string) {
  return { name, value, isSensitive: false };
}

const noWait = plain('ENVARIUM_K8S_WAIT_SECONDS', '0');

interface More {
  readonly variables?: Record<string, string>;
  readonly kubeconfig?: (namespace: TestNamespace) => string;
  readonly systemVariables?: Record<string, string>;
}

async function stageOf(t: TestContext, manifests: string, more: More = {}): Promise<Stage> {
  const environment = Object.entries(more.variables ?? {}).map(([name, value]) => plain(name, value));
  return clusterStage(t, await cluster(), { 'a.yaml': manifests }, 'k8s', {
    variables: { environment: [noWait, ...environment] },
    ...(more.kubeconfig === undefined ? {} : { kubeconfig: more.kubeconfig }),
    ...(more.systemVariables === undefined ? {} : { systemVariables: more.systemVariables }),
  });
}

function configMap(data: Record<string, string>, name = 'settings'): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })}\n`;
}

function deployment(app: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: ${app} } }
  template:
    metadata: { labels: { app: ${app} } }
    spec: { containers: [{ name: web, image: registry.test/web }] }
---
`;
}

const broken: readonly { what: string; manifests: string; expected: RegExp; more?: More }[] = [
  { what: 'does not parse', manifests: 'kind: [\n', expected: /a\.yaml.*(yaml|YAML)/s },
  {
    what: 'has no name',
    manifests: 'apiVersion: v1\nkind: ConfigMap\n',
    expected: /^a\.yaml: ConfigMap has no metadata\.name: give it one/,
  },
  {
    what: 'has a generated name',
    manifests: 'apiVersion: batch/v1\nkind: Job\nmetadata: { generateName: once- }\n',
    expected:
      /^a\.yaml: Job has no metadata\.name: give it one \(generateName cannot be used, because it makes another object each time\)$/,
  },
  {
    what: 'names an unknown kind',
    manifests: 'apiVersion: shop.test/v1\nkind: Thing\nmetadata: { name: a }\n',
    expected: /no matches for kind "Thing" in version "shop\.test\/v1"\n\(the cluster has no such kind/,
  },
  {
    what: 'has an unknown field',
    manifests: deployment('a').replace('spec:\n', 'spec:\n  replicaz: 3\n'),
    expected: /\.spec\.replicaz: field not declared in schema/,
  },
  {
    what: 'is declared twice',
    manifests: `apiVersion: v1\nkind: List\nitems: [${configMap({}).trim()}, ${configMap({}).trim()}]`,
    expected: /settings/,
  },
  {
    what: 'is in a namespace that does not exist',
    manifests: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: nowhere }\n',
    expected: /namespaces "nowhere" not found\n\(declare the namespace in the manifests/,
  },
];

for (const { what, manifests, expected } of broken)
  test(`a manifest that ${what} ends the plan with the reason`, needs, async (t) => {
    const stage = await stageOf(t, manifests);
    assert.match(failureMessageOf(await stage.run(stage.job())), expected);
  });

test(
  'a field of another manager stops the plan with its name, unless a variable allows to take it over',
  needs,
  async (t) => {
    const stage = await stageOf(t, configMap({ a: 'ours' }));
    const { kubectl, name } = stage.namespace;
    await kubectl(
      ['apply', '--server-side', '--field-manager=theirs', '-f', '-'],
      configMap({ a: 'theirs', b: '1' }),
    );
    assert.match(
      failureMessageOf(await stage.run(stage.job())),
      /^\.data\.a.*: managed by "theirs".*ENVARIUM_K8S_FORCE_CONFLICTS/,
    );
    const environment = [...stage.job().variables.environment, plain('ENVARIUM_K8S_FORCE_CONFLICTS', 'true')];
    const { planned, applied } = await stage.deploy({ variables: { environment, terraform: [] } });
    const [row] = planned.outcome.plan?.resourceChanges ?? [];
    assert.equal(row?.path, `v1/ConfigMap/${name}/settings`);
    assert.match(row.actionReason ?? '', /exists already/);
    assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
    assert.equal(
      await kubectl(['get', 'configmap', 'settings', '-o', 'jsonpath={.data.a}{.data.b}']),
      'ours1',
    );
  },
);

test(
  'an object that another user made between plan and apply stays theirs, also in the next deployment',
  needs,
  async (t) => {
    const stage = await stageOf(t, configMap({ a: 'ours' }));
    const planned = await stage.run(stage.job());
    const theirs = ['apply', '--server-side', '--field-manager=theirs', '-f', '-'];
    await stage.namespace.kubectl(theirs, configMap({ a: 'theirs' }));
    assert.match(failureMessageOf(await stage.apply(planned)), /^\.data\.a: managed by "theirs"/);
    assert.match(failureMessageOf(await stage.run(stage.job())), /^\.data\.a.*: managed by "theirs"/);
    const destroying = await stage.run(stage.job({ type: 'destroy' }));
    assert.deepEqual(destroying.outcome.plan?.resourceChanges, []);
  },
);

test(
  'an object of another environment is refused, and one that has lost its label stays',
  needs,
  async (t) => {
    const stage = await stageOf(t, configMap({ a: '1' }));
    const { kubectl } = stage.namespace;
    await stage.deploy();
    const other = await stage.run(stage.job({ environmentId: '00000000-0000-7000-8000-0000000000e2' }), {
      state: null,
    });
    assert.match(failureMessageOf(other), /ConfigMap\/settings belongs to the environment "\S+e1"/);
    await kubectl(['label', 'configmap', 'settings', 'envarium-environment-id-']);
    const destroying = await stage.run(stage.job({ type: 'destroy' }));
    assert.deepEqual(destroying.outcome.plan?.resourceChanges, []);
    assert.match(destroying.outcome.plan?.settled?.[0]?.actionReason ?? '', /no longer has the label/);
  },
);

/** Objects that are declared together with their namespace. */
function inNewNamespace(name: string, ...objects: readonly object[]): string {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  const placed = objects.map((object) => ({ ...object, metadata: { name: 'web', namespace: name } }));
  return [namespace, ...placed].map((object) => JSON.stringify(object)).join('\n---\n');
}

const own = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } };
const port = (value: unknown) => ({ apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: value }] } });

test('what is wrong with objects of a namespace that does not exist yet ends the plan', needs, async (t) => {
  const name = `own-${process.pid}`;
  const unknown = { ...own, dataa: { b: '2' } };
  const thing = { apiVersion: 'shop.test/v1', kind: 'Thing' };
  const stage = await stageOf(t, inNewNamespace(name, own, port(70_000)));
  const refused = failureMessageOf(await stage.run(stage.job()));
  assert.match(refused, /spec\.ports\[0\]\.port: Invalid value: 70000/);
  assert.match(
    refused,
    /\(found in the namespace default, because the one of the object does not exist yet\)$/,
  );
  stage.setup.commit({ 'a.yaml': inNewNamespace(name, { ...port(80) }, unknown, thing) });
  const both = failureMessageOf(await stage.run(stage.job()));
  assert.match(both, /\.dataa: field not declared in schema/);
  assert.match(both, /no matches for kind "Thing" in version "shop\.test\/v1"/);
  stage.setup.commit({ 'a.yaml': inNewNamespace(name, own, port(80)) });
  const { planned, applied } = await stage.deploy();
  assert.deepEqual(planned.outcome.planSummary, { added: 3, changed: 0, destroyed: 0 });
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
  await stage.namespace.kubectl(['delete', 'namespace', name, '--wait=false']);
});

test(
  'an object that only the other namespace has a rule against is planned, and the log says so',
  needs,
  async (t) => {
    const name = `other-${process.pid}`;
    const stage = await stageOf(t, inNewNamespace(name, own));
    const { kubectl } = await cluster();
    await kubectl(['create', 'quota', 'none', '--hard=configmaps=0', '--namespace=default']);
    try {
      const planned = await stage.run(stage.job());
      assert.deepEqual(planned.outcome.planSummary, { added: 2, changed: 0, destroyed: 0 });
      assert.match(
        planned.log('k8s:diff'),
        /could not be checked in the namespace default: .*exceeded quota/,
      );
    } finally {
      await kubectl(['delete', 'quota', 'none', '--namespace=default']);
    }
  },
);

test('an object in a version that its new definition does not serve ends the plan', needs, async (t) => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boxes.shop.test' },
    spec: {
      group: 'shop.test',
      scope: 'Namespaced',
      names: { plural: 'boxes', singular: 'box', kind: 'Box' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  };
  const box = { apiVersion: 'shop.test/v2', kind: 'Box', metadata: { name: 'one' } };
  const stage = await stageOf(t, `${JSON.stringify(definition)}\n---\n${JSON.stringify(box)}`);
  assert.match(
    failureMessageOf(await stage.run(stage.job())),
    /^shop\.test\/v2\/Box\/\S+\/one: its definition boxes\.shop\.test in these manifests serves only shop\.test\/v1: correct apiVersion$/,
  );
});

test(
  'manifests without any object are refused, and no command that was not run has failed',
  needs,
  async (t) => {
    const stage = await stageOf(t, '# nothing yet\n');
    const ran = await stage.run(stage.job());
    assert.match(failureMessageOf(ran), /^the rendered manifests contain no objects/);
    assert.equal(ran.outcome.failedCommand, undefined);
  },
);

test('an immutable field ends the plan with the field', needs, async (t) => {
  const stage = await stageOf(t, deployment('one'));
  await stage.deploy();
  stage.setup.commit({ 'a.yaml': deployment('two') });
  assert.match(
    failureMessageOf(await stage.run(stage.job())),
    /spec\.selector: .*field is immutable\n\(the cluster cannot change/s,
  );
});

test('a namespace that is being deleted ends the plan with the reason', needs, async (t) => {
  const stage = await stageOf(t, configMap({ a: '1' }));
  const { kubectl, name } = stage.namespace;
  const blocked = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'b', finalizers: ['shop.test/hold'] },
  };
  await kubectl(['apply', '-f', '-'], JSON.stringify(blocked));
  await kubectl(['delete', 'namespace', name, '--wait=false']);
  assert.match(
    failureMessageOf(await stage.run(stage.job())),
    /being terminated\n\(wait until the namespace is gone/,
  );
  await kubectl(['patch', 'configmap', 'b', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
});

const accesses: readonly {
  what: string;
  kubeconfig: (namespace: TestNamespace) => string;
  expected: RegExp;
}[] = [
  {
    what: 'an expired token',
    kubeconfig: (namespace) => namespace.restrictedKubeconfig(-1),
    expected: /provide credentials\n\(the cluster does not accept the token/,
  },
  {
    what: 'a cluster that cannot be reached',
    kubeconfig: (namespace) =>
      namespace.kubeconfig().replace(/https:\/\/127\.0\.0\.1:\d+/, 'https://127.0.0.1:1'),
    expected:
      /127\.0\.0\.1:1: connect: connection refused\n\(the cluster of the kubeconfig cannot be reached/,
  },
  {
    what: 'a certificate of another authority',
    kubeconfig: (namespace) => namespace.kubeconfig().replace(/^ *certificate-authority-data:.*\n/m, ''),
    expected: /certificate/,
  },
];

for (const { what, kubeconfig, expected } of accesses)
  test(`${what} ends the plan with the reason`, needs, async (t) => {
    const stage = await stageOf(t, configMap({ a: '1' }), { kubeconfig });
    assert.match(failureMessageOf(await stage.run(stage.job())), expected);
  });

test('a user with few rights deploys to its namespace, and what is forbidden is named', needs, async (t) => {
  const stage = await stageOf(t, configMap({ a: '1' }), {
    kubeconfig: (namespace) => namespace.restrictedKubeconfig(),
  });
  const { applied } = await stage.deploy();
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
  const drift = await stage.run(stage.job({ type: 'driftDetection' }));
  assert.deepEqual(drift.outcome.plan?.resourceChanges, [], JSON.stringify(drift.outcome));
  const role = `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: ${stage.namespace.name} }\n`;
  stage.setup.commit({ 'a.yaml': role });
  assert.match(failureMessageOf(await stage.run(stage.job())), /Forbidden.*clusterroles/);
});

/** A program that answers as kubectl where it says so, and else does what a test asks. */
function falseKubectl(folder: string, does: string): string {
  const file = join(folder, 'kubectl');
  writeFileSync(
    file,
    `#!/bin/sh\ncase $1 in version|config) exec ${findProgram('kubectl')} "$@" ;; esac\n${does}\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

for (const { what, does, expected } of [
  {
    what: 'prints 100 MB',
    does: 'head -c 100000000 /dev/zero | tr "\\0" "#"',
    expected: /the rendered manifests have 100 MB, and at most 32 MB are read/,
  },
  {
    what: 'fails without a word',
    does: 'exit 3',
    expected: /kubectl kustomize ended with code 3 without any output/,
  },
  {
    what: 'prints nothing',
    does: 'exit 0',
    expected: /^the rendered manifests contain no objects: /,
  },
  {
    what: 'prints no YAML',
    does: 'echo "a: b: c"',
    expected: /^the rendered manifests, document 1, line 1: /,
  },
])
  test(`a tool that ${what} ends the plan with the reason`, needs, async (t) => {
    const stage = await stageOf(t, configMap({ a: '1' }));
    const kubectl = falseKubectl(stage.setup.folder, does);
    const toolPaths = { kubectl, git: findProgram('git') ?? '' };
    assert.match(failureMessageOf(await stage.run(stage.job(), { toolPaths })), expected);
  });

test('what a deployment cannot have is refused before anything runs', needs, async (t) => {
  const stage = await stageOf(t, configMap({ a: '1' }));
  const wrong = await stage.run(
    stage.job({
      targets: ['v1/ConfigMap/a'],
      systemVariables: { ENVARIUM_K8S_NAMESPACE: 'Shop' },
      variables: { environment: [plain('ENVARIUM_K8S_WAIT_SECONDS', 'soon')], terraform: [] },
    }),
  );
  for (const part of [/^k8sNamespace: /m, /^targets: /m, /^ENVARIUM_K8S_WAIT_SECONDS: /m])
    assert.match(failureMessageOf(wrong), part);
  const empty = await stageOf(t, '');
  empty.setup.commit({ 'a.yaml': null, 'readme.md': 'x' });
  assert.match(
    failureMessageOf(await empty.run(empty.job())),
    /^No manifests: the root of .* set path to the folder/,
  );
});
