import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planReading, rowOf } from './changes.ts';
import type { KubernetesObject } from './objects.ts';

const options = { defaultNamespace: 'shop' };

function deployment(spec: unknown, more: Record<string, unknown> = {}): KubernetesObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', ...more }, spec };
}

function secret(data: Record<string, string>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, data };
}

test('a changed object has a row with each changed field', () => {
  const live = deployment(
    { replicas: 1, template: { containers: [{ name: 'web', image: 'a:1', args: ['x'] }] } },
    { uid: 'u-1', resourceVersion: '1', annotations: { 'a.b/c': 'old' } },
  );
  const merged = deployment(
    { replicas: 3, template: { containers: [{ name: 'web', image: 'a:2', args: ['x', 'y'] }] } },
    { uid: 'u-1', resourceVersion: '2', annotations: { 'a.b/c': 'new' } },
  );
  assert.deepEqual(rowOf({ live, merged }, options), {
    id: 'u-1',
    name: 'web',
    providerName: 'kubernetes',
    type: 'apps/v1/Deployment',
    path: 'apps/v1/Deployment/shop/web',
    moduleName: 'shop',
    action: 'update',
    attributes: [
      { name: 'metadata.annotations[a.b/c]', before: 'old', after: 'new' },
      { name: 'spec.replicas', before: 1, after: 3 },
      { name: 'spec.template.containers[web].args', before: ['x'], after: ['x', 'y'] },
      { name: 'spec.template.containers[web].image', before: 'a:1', after: 'a:2' },
    ],
  });
});

test('fields that only the cluster sets do not count as changes', () => {
  const live = { ...deployment({ replicas: 1 }, { generation: 1, managedFields: [] }), status: { ready: 1 } };
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  const merged = deployment({ replicas: 1 }, { generation: 2, creationTimestamp: 'now', annotations });
  assert.equal(rowOf({ live, merged }, options), null);
  assert.equal(rowOf({ live: null, merged: null }, options), null);
});

test('an object of the whole cluster has no namespace, and a created or deleted one shows its parts', () => {
  const role: KubernetesObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader', labels: { a: 'b' } },
    rules: [{ verbs: ['get'] }],
  };
  const created = rowOf({ live: null, merged: role }, options);
  assert.equal(created?.path, 'rbac.authorization.k8s.io/v1/ClusterRole/reader');
  assert.equal(created?.moduleName, undefined);
  assert.deepEqual(created?.attributes, [
    { name: 'metadata.labels', after: { a: 'b' } },
    { name: 'rules', after: [{ verbs: ['get'] }] },
  ]);
  const deleted = rowOf({ live: role, merged: null }, { ...options, isDrift: true, reason: 'why' });
  assert.equal(deleted?.action, 'delete');
  assert.equal(deleted?.driftByCloud, true);
  assert.equal(deleted?.actionReason, 'why');
  assert.deepEqual(deleted?.attributes[1], { name: 'rules', before: [{ verbs: ['get'] }] });
});

test('what is deleted with an object, and has no row, is its reason', () => {
  const gone = (apiVersion: string, kind: string) =>
    rowOf({ live: { apiVersion, kind, metadata: { name: 'a' } }, merged: null }, options)?.actionReason;
  assert.match(gone('v1', 'Namespace') ?? '', /everything in the namespace .* regardless/);
  assert.match(gone('apiextensions.k8s.io/v1', 'CustomResourceDefinition') ?? '', /all objects of this kind/);
  assert.equal(gone('v1', 'ConfigMap'), undefined);
});

test('a Secret that is wrong in itself shows nothing either', () => {
  const merged = { ...secret({}), data: 'planted', stringData: ['planted'] };
  assert.doesNotMatch(JSON.stringify(rowOf({ live: null, merged }, options)), /planted/);
});

test('of a Secret only the keys of changed values are shown', () => {
  const live = secret({ same: 'aGk=', changed: 'b25l', gone: 'dHdv' });
  const merged = secret({ same: 'aGk=', changed: 'dGhyZWU=', added: 'Zm91cg==' });
  const changed = rowOf({ live, merged }, options);
  assert.deepEqual(changed?.attributes, [
    { name: 'data.added', after: '(sensitive)' },
    { name: 'data.changed', before: '(sensitive)', after: '(sensitive)' },
    { name: 'data.gone', before: '(sensitive)' },
  ]);
  const created = rowOf({ live: null, merged }, options);
  assert.deepEqual(created?.attributes, [
    { name: 'data', after: { added: '(sensitive)', changed: '(sensitive)', same: '(sensitive)' } },
  ]);
});

test('a plan counts its rows, and secrets of the run and long texts are not in it', () => {
  const row = (name: string, live: KubernetesObject | null, merged: KubernetesObject | null) => {
    const found = rowOf({ live, merged }, options);
    assert.ok(found, name);
    return found;
  };
  const long = 'x'.repeat(20_000);
  const rows = [
    row('create', null, deployment({ text: `password=${'hunter22'}` })),
    row('update', deployment({ text: 'a' }), deployment({ text: long })),
    row('delete', deployment({}), null),
  ];
  const { plan, planSummary, hasChanges } = planReading(rows, ['hunter22']);
  assert.deepEqual(planSummary, { added: 1, changed: 1, destroyed: 1 });
  assert.equal(hasChanges, true);
  assert.doesNotMatch(JSON.stringify(plan), /hunter22/);
  assert.match(JSON.stringify(plan), /x… \(20000 characters\)/);
  assert.equal(planReading([], []).hasChanges, false);
});
