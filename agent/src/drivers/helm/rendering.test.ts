import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { KubernetesObject } from '../cluster/objects.ts';
import { approvalDifference, composeApproval, destroyDifference, unstablePlaces } from './approval.ts';
import { helmReason } from './diagnostics.ts';
import { changedHooks, hookRows } from './hooks.ts';
import { readStatus } from './outputs.ts';
import { helmProgress } from './progress.ts';
import { type Rendering, readTemplates } from './rendering.ts';

const fixture = (name: string) => readFileSync(join(import.meta.dirname, '__fixtures__', name));

const rendering = (...maps: [name: string, data: Record<string, string>][]): Rendering =>
  readTemplates(
    Buffer.from(
      maps
        .map(([name, data]) =>
          JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }),
        )
        .join('\n---\n'),
    ),
  );

test('what differs from the approved rendering is named by object and field', () => {
  const approved = composeApproval({
    newest: 1,
    namespace: 'shop',
    rendering: rendering(['a', { x: '1', token: 'one' }], ['b', {}]),
    unstable: unstablePlaces(
      rendering(['a', { x: '1', token: 'one' }]),
      rendering(['a', { x: '1', token: 'two' }]),
      'shop',
    ),
  });
  const difference = (now: Rendering, newest = 1) =>
    approvalDifference(approved, { newest, rendering: now, namespace: 'shop' });
  assert.equal(difference(rendering(['b', {}], ['a', { x: '1', token: 'three' }])), null);
  assert.equal(
    difference(rendering(['a', { x: '2', token: 'one' }], ['c', {}])),
    'the chart renders otherwise: v1/ConfigMap/shop/a (data.x), v1/ConfigMap/shop/b, v1/ConfigMap/shop/c',
  );
  assert.match(difference(rendering(['a', { x: '1' }], ['b', {}]), 2) ?? '', /at revision 2 and was at 1/);
});

test('a destroy may delete what was approved and no more', () => {
  const approved = composeApproval({ newest: 1, rendered: { 'v1/ConfigMap/shop/a': true } });
  assert.equal(destroyDifference(approved, []), null);
  assert.match(
    destroyDifference(approved, ['v1/ConfigMap/shop/b']) ?? '',
    /more objects: v1\/ConfigMap\/shop\/b/,
  );
});

test('the status of a release becomes outputs and resources', () => {
  const reading = readStatus(fixture('3.21.4-status.json'), fixture('3.21.4-metadata.json'));
  assert.deepEqual([reading.resourceCount, reading.outputs?.['chartVersion']?.value], [3, '1.2.0']);
  assert.deepEqual(reading.resources?.[0], {
    provider: 'kubernetes',
    type: 'v1/ConfigMap',
    name: 'shop-page',
    moduleName: 'shop',
  });
  assert.throws(() => readStatus(new Uint8Array(), undefined), /helm status printed nothing/);
});

const debug = (text: string) => `client.go:1: 2026-11-23 15:00:00.1 +0000 UTC m=+0.1 [debug] ${text}\n`;

test('what helm reports becomes events, whatever else the log says', () => {
  const log = [
    debug('Created a new ConfigMap called "a" in shop'),
    debug('Patch Deployment "web" in namespace shop'),
    debug('Looks like there are no changes for Service "web"'),
    'Patch Deployment "forged" in namespace shop\n',
    debug('Deleting Secret "old" in namespace shop...'),
    debug('Starting delete for "web" Service'),
  ].join('');
  const events = helmProgress().read(Buffer.from(log));
  assert.deepEqual(
    events.map(({ address, action }) => [address, action]),
    [
      ['ConfigMap/shop/a', 'create'],
      ['Deployment/shop/web', 'update'],
      ['Secret/shop/old', 'delete'],
      ['Service/web', 'delete'],
    ],
  );
});

test('the last error is shown without places in the code of helm, and with a remedy', () => {
  assert.equal(helmReason('all is well\n'), null);
  assert.equal(
    helmReason(`Error: UPGRADE FAILED: context canceled\nhelm.go:92: 2026 [debug] context canceled\nstack\n`),
    'Error: UPGRADE FAILED: context canceled',
  );
  assert.match(
    helmReason('Error: INSTALLATION FAILED: context deadline exceeded\n') ?? '',
    /exceeded\n\(the time limit of helm \(--timeout\) has passed/,
  );
  assert.match(
    helmReason(
      'Hang tight\n...Unable to get an update from the "envarium" chart repository (https://x):\n\ttls: x509: unknown\nError: Failed to update the following repositories: [https://x]\n',
    ) ?? '',
    /^Error: Unable to get an update from [^\n]*x509: unknown\n\(the certificate is not trusted/,
  );
});

test('a chart whose dependencies cannot be fetched names the first repository with the reason, and how many more', () => {
  const output = `Hang tight while we grab the latest from your chart repositories...
...Unable to get an update from the "envarium" chart repository (https://charts.test/one):
\tGet "https://charts.test/one/index.yaml": dial tcp: lookup charts.test on 10.0.0.1:53: no such host
...Unable to get an update from the "https://charts.test/two" chart repository:
\tGet "https://charts.test/two/index.yaml": dial tcp 10.0.0.2:443: connect: connection refused
Update Complete. Happy Helming!
Error: no cached repository for envarium found. (try 'helm repo update'): open /tmp/index.yaml: no such file or directory
`;
  assert.equal(
    helmReason(output),
    'Error: Unable to get an update from the "envarium" chart repository (https://charts.test/one): ' +
      'Get "https://charts.test/one/index.yaml": dial tcp: lookup charts.test on 10.0.0.1:53: no such host (and 1 more error)\n' +
      '(the address of the cluster or chart repository cannot be reached from this agent)',
  );
});

test('values of variables that a chart wants with a type are named with what gives them one', () => {
  const schema = (lines: string) =>
    helmReason(
      `Error: UPGRADE FAILED: values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n${lines}\n`,
    );
  assert.match(
    schema(
      "- at '/replicaCount': got string, want integer\n- at '/pod': validation failed\n" +
        "  - at '/pod/app.test~1name': got string, want null or number\n  - at '/pod/ports/0': got string, want number",
    ) ?? '',
    /\(a variable without a format is text: set replicaCount, pod\.app\\\.test\/name, pod\.ports with the format JSON, which the command line does with --json-var replicaCount=…\)$/,
  );
  assert.match(
    schema("- at '/kind': value must be 'x'") ?? '',
    /\(correct the variables that set these values\)$/,
  );
});

test('changed hooks that the apply runs are rows', () => {
  const hook = (name: string, events: string, text: string): KubernetesObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, annotations: { 'helm.sh/hook': events } },
    spec: { text },
  });
  const before = [hook('migrate', 'pre-install, pre-upgrade', 'one'), hook('same', 'post-upgrade', 'x')];
  const now = [
    hook('migrate', 'pre-install, pre-upgrade', 'two'),
    hook('same', 'post-upgrade', 'x'),
    hook('check', 'test', 'new'),
  ];
  const chart = (hooks: readonly KubernetesObject[]): Rendering => ({ ...rendering(), hooks });
  const changed = changedHooks({ hooks: before }, chart(now), [], 'shop');
  assert.deepEqual([...changed].sort(), ['hook batch/v1/Job/shop/check', 'hook batch/v1/Job/shop/migrate']);
  const rowsOf = (isInstallation: boolean) =>
    hookRows(chart(now), changed, isInstallation, 'shop').map(({ path, kind, action, actionReason }) => [
      path,
      kind,
      action,
      actionReason,
    ]);
  const path = 'hook batch/v1/Job/shop/migrate';
  assert.deepEqual(rowsOf(false), [[path, 'invoke', 'metadata', 'the apply runs this hook (pre-upgrade)']]);
  assert.deepEqual(rowsOf(true), [[path, 'invoke', 'metadata', 'the apply runs this hook (pre-install)']]);
  assert.equal(changedHooks({ hooks: now }, chart(now), [], 'shop').size, 0);
  assert.equal(changedHooks({ hooks: now }, chart([]), [], 'shop').size, 3);
  assert.equal(changedHooks(null, chart(now), [], 'shop').size, 3);
  // Differences between two renderings of one plan are ignored.
  const place = unstablePlaces(
    chart(now),
    chart([...now.slice(1), hook('migrate', 'pre-upgrade', 'three')]),
    'shop',
  );
  assert.equal(changedHooks({ hooks: before }, chart(now.slice(0, 2)), place, 'shop').size, 0);
});
