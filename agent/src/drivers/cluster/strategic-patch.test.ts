/** Patches as the libraries of Kubernetes make them; recorded with k8s.io/apimachinery 0.36.2. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { addingMergePatch, mergePatch, withMergePatch } from './merge-patch.ts';
import { type MergeRule, mergeRuleOf } from './merge-rules.ts';
import type { KubernetesObject } from './objects.ts';
import { strategicPatch, withFields } from './strategic-patch.ts';

interface Recorded extends Readonly<Record<'last' | 'next' | 'live', KubernetesObject>> {
  readonly what: string;
  readonly patch: object;
}

const file = join(import.meta.dirname, '__fixtures__', 'strategic-patches.json');
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded[];

for (const { what, last, next, live, patch } of recorded)
  test(`a three-way patch is the one of Kubernetes: ${what}`, () => {
    const rule = mergeRuleOf(next);
    assert.ok(rule !== null);
    // Without prototypes of its own, as it is sent.
    assert.deepEqual(JSON.parse(JSON.stringify(strategicPatch(last, next, live, rule))), patch);
  });

test('large numbers with the same digits are the same', () => {
  const object = (number: string) =>
    parseExactly(
      `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","finalizers":[${number}]},"spec":{"replicas":${number}}}`,
    ) as KubernetesObject;
  const rule: MergeRule = { fields: { metadata: { fields: { finalizers: { isSet: true } } } } };
  const [one, same, other] = [
    object('9007199254740993'),
    object('9007199254740993'),
    object('9007199254740995'),
  ];
  assert.deepEqual(strategicPatch(one, same, same, rule), {});
  assert.deepEqual(strategicPatch(one, same, one, rule), {});
  assert.equal(
    JSON.stringify(strategicPatch(one, other, one, rule)['spec']),
    '{"replicas":9007199254740995}',
  );
});

test('names of fields that every object of the language has are fields like others', () => {
  const object = (labels: string) =>
    JSON.parse(
      `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","labels":${labels}}}`,
    ) as KubernetesObject;
  const patch = strategicPatch(
    object('{"constructor":"1"}'),
    object('{"__proto__":"1","toString":"2"}'),
    object('{"constructor":"1"}'),
    mergeRuleOf(object('{}')) ?? {},
  );
  assert.equal(
    JSON.stringify(patch),
    '{"metadata":{"labels":{"constructor":null,"__proto__":"1","toString":"2"}}}',
  );
});

test('an element without the key of its list is named', () => {
  const service = (ports: object[]): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a' },
    spec: { ports },
  });
  const [one, other] = [service([{ port: 1 }]), service([{ name: 'http' }])];
  assert.throws(
    () => strategicPatch(one, other, one, mergeRuleOf(one) ?? {}),
    /an element of ports has no port, by which helm tells the elements apart/,
  );
});

test('kinds that others have defined, and those of other programs, have no strategic merge', () => {
  const of = (apiVersion: string, kind: string) => mergeRuleOf({ apiVersion, kind });
  assert.equal(of('shop.test/v1', 'Deployment'), null);
  assert.equal(of('apiregistration.k8s.io/v1', 'APIService'), null);
  assert.notEqual(of('apiextensions.k8s.io/v1', 'CustomResourceDefinition'), null);
});

test('what a cluster refuses is shown as the manifest wants it, next to what others have added', () => {
  const probe = (livenessProbe: object, more: object[] = []): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [{ name: 'web', livenessProbe }, ...more] },
  });
  const live = probe({ tcpSocket: { port: 1 }, periodSeconds: 10 }, [{ name: 'theirs' }]);
  const next = probe({ httpGet: { port: 1 } });
  assert.deepEqual(
    withFields(live, next, mergeRuleOf(next) ?? {}),
    probe({ tcpSocket: { port: 1 }, periodSeconds: 10, httpGet: { port: 1 } }, [{ name: 'theirs' }]),
  );
});

test('a merge patch replaces lists, and deletes what is null', () => {
  const from = { a: { b: 1, c: 2 }, list: [1, 2], gone: 'x' };
  const to = { a: { b: 1, c: 3 }, list: [2], more: { d: null } };
  const patch = mergePatch(from, to);
  assert.deepEqual(patch, { a: { c: 3 }, list: [2], more: { d: null }, gone: null });
  assert.deepEqual(withMergePatch({ ...from, theirs: true }, patch), {
    a: { b: 1, c: 3 },
    list: [2],
    more: {},
    theirs: true,
  });
  assert.deepEqual(addingMergePatch(from, to), { a: { c: 3 }, list: [2], more: {} });
});
