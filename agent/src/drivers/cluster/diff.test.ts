import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf } from '../../../testing/driver-job.ts';
import { diffCommand, readDiff } from './diff.ts';

const recorded = `diff -N -U1000000000 /tmp/LIVE-1/v1.ConfigMap.demo.c1 /tmp/MERGED-2/v1.ConfigMap.demo.c1
--- /tmp/LIVE-1/v1.ConfigMap.demo.c1	2026-11-23 14:49:15.281721357 +0000
+++ /tmp/MERGED-2/v1.ConfigMap.demo.c1	2026-11-23 14:49:15.281721357 +0000
@@ -1,8 +1,8 @@
 apiVersion: v1
 data:
-  a: |
-    -- not a header
+  a: "1"
   b: "2"
 kind: ConfigMap
 metadata:
   name: c1
   namespace: demo
diff -N -U1000000000 /tmp/LIVE-1/v1.Secret.demo.s1 /tmp/MERGED-2/v1.Secret.demo.s1
--- /tmp/LIVE-1/v1.Secret.demo.s1	2026-11-23 14:51:03.909726369 +0000
+++ /tmp/MERGED-2/v1.Secret.demo.s1	2026-11-23 14:51:03.909726369 +0000
@@ -1 +1,6 @@
-null
+apiVersion: v1
+data:
+  a: '***'
+kind: Secret
+metadata: { name: s1, namespace: demo }
`;

test('both sides of each object are read from what the comparing program prints', () => {
  const [changed, created, ...others] = readDiff(Buffer.from(recorded));
  assert.deepEqual(changed?.live?.['data'], { a: '-- not a header\n', b: '2' });
  assert.deepEqual(changed?.merged?.['data'], { a: '1', b: '2' });
  assert.equal(created?.live, null);
  assert.equal(created?.merged?.kind, 'Secret');
  assert.deepEqual(others, []);
});

test('nothing is read where nothing was printed', () => {
  assert.deepEqual(readDiff(undefined), []);
  assert.deepEqual(readDiff(new Uint8Array()), []);
});

test('without objects there is no command to run, and only a forced one takes fields over', () => {
  const request = { job: jobOf(), step: 'plan', label: 'diff', captureTo: 'x' };
  const none = diffCommand({ ...request, isForced: false, objects: () => [] });
  assert.equal(none.input?.(new Map()), null);
  assert.ok(!none.args.includes('--force-conflicts'));
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const some = diffCommand({ ...request, isForced: true, objects: () => [object] });
  assert.deepEqual(JSON.parse(String(some.input?.(new Map()))), {
    apiVersion: 'v1',
    kind: 'List',
    items: [object],
  });
  assert.ok(some.args.includes('--force-conflicts'));
});
