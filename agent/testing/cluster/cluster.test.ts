import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { apiClient } from './api-client.ts';
import { sharedCluster, startCluster, withCluster } from './cluster.ts';
import { playAnnotation } from './played-readiness.ts';

const needs = withCluster();
const cluster = sharedCluster();

const settings = (value: string) =>
  stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { value } });

function workload(
  kind: 'Deployment' | 'StatefulSet' | 'Job',
  name: string,
  play?: 'failed' | 'pending',
): string {
  const containers = [{ name: 'main', image: 'example.test/main:1' }];
  const selector = { matchLabels: { app: name } };
  const template = {
    metadata: { labels: { app: name }, ...(play && { annotations: { [playAnnotation]: play } }) },
    spec: { containers, ...(kind === 'Job' && { restartPolicy: 'Never' }) },
  };
  return stringify({
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name },
    spec: kind === 'Job' ? { backoffLimit: 0, template } : { replicas: 2, selector, template },
  });
}

test('kubectl applies, compares and deletes; what is removed is gone', needs, async (t) => {
  const { kubectl, name, remove } = await (await cluster()).namespace(t);
  await kubectl(['apply', '-f', '-'], settings('one'));
  assert.equal(await kubectl(['diff', '-f', '-'], settings('one')), '');
  await assert.rejects(kubectl(['diff', '-f', '-'], settings('two')), {
    code: 1,
    stdout: /^\+ {2}value: two$/m,
  });
  await kubectl(['apply', '-f', '-'], workload('Deployment', 'web'));
  await kubectl(['delete', 'configmap', 'settings']);
  await remove();
  await assert.rejects((await cluster()).kubectl(['get', 'namespace', name]), {
    code: 1,
    stderr: /NotFound/,
  });
});

test('a rollout ends once readiness is played, and waits while it is not', needs, async (t) => {
  const { kubectl, playReadiness } = await (await cluster()).namespace(t);
  await kubectl(
    ['apply', '-f', '-'],
    `${workload('Deployment', 'web')}---\n${workload('StatefulSet', 'store')}`,
  );
  const status = (of: string, wait: string) => kubectl(['rollout', 'status', of, `--timeout=${wait}`]);
  await assert.rejects(status('deployment/web', '200ms'), { code: 1 });
  const playing = playReadiness();
  await status('deployment/web', '30s');
  await status('statefulset/store', '30s');
  await playing[Symbol.asyncDispose]();
  await kubectl(['apply', '-f', '-'], workload('Deployment', 'late'));
  await assert.rejects(status('deployment/late', '200ms'), { code: 1 });
});

test('a job succeeds or fails, and a pod stays pending, as its annotation says', needs, async (t) => {
  const { kubectl, playReadiness } = await (await cluster()).namespace(t);
  playReadiness();
  const documents = [
    workload('Job', 'good'),
    workload('Job', 'bad', 'failed'),
    workload('Deployment', 'slow', 'pending'),
  ];
  await kubectl(['apply', '-f', '-'], documents.join('---\n'));
  await kubectl(['wait', 'job/good', '--for=condition=Complete', '--timeout=30s']);
  await kubectl(['wait', 'job/bad', '--for=condition=Failed', '--timeout=30s']);
  const phases = await kubectl(['get', 'pods', '-l', 'app=slow', '-o', 'jsonpath={.items[*].status.phase}']);
  assert.equal(phases, 'Pending Pending');
});

test(
  'a restricted user edits one namespace only, and nothing once the token has expired',
  needs,
  async (t) => {
    const shared = await cluster();
    const own = await shared.namespace(t);
    const other = await shared.namespace(t);
    const statusOf = async (token: string, namespace: string) => {
      using api = apiClient(shared.url, shared.ca, token);
      const body = { metadata: { name: `of-${namespace}` } };
      return (await api.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, body)).status;
    };
    assert.equal(await statusOf(own.restrictedToken(), own.name), 201);
    assert.equal(await statusOf(own.restrictedToken(), other.name), 403);
    assert.equal(await statusOf(own.restrictedToken(-1), own.name), 401);
    assert.equal(await statusOf('nobody', own.name), 401);
    assert.match(own.restrictedKubeconfig(), new RegExp(`namespace: ${own.name}`));
  },
);

test('the API refuses objects of one namespace with a sentence, until the refusal ends', needs, async (t) => {
  const [refusing, other] = [await (await cluster()).namespace(t), await (await cluster()).namespace(t)];
  const refusal = await refusing.refuse({
    resources: ['deployments'],
    message: 'No deployments on Fridays.',
  });
  await assert.rejects(refusing.kubectl(['apply', '-f', '-'], workload('Deployment', 'web')), {
    code: 1,
    stderr: /denied request: No deployments on Fridays\./,
  });
  await refusing.kubectl(['apply', '-f', '-'], settings('one'));
  await other.kubectl(['apply', '-f', '-'], workload('Deployment', 'web'));
  await refusal[Symbol.asyncDispose]();
  await refusing.kubectl(['apply', '-f', '-'], workload('Deployment', 'web'));
});

test('the end of a cluster leaves no process', needs, async () => {
  const own = await startCluster();
  assert.equal(own.processIds.length, 3);
  await own[Symbol.asyncDispose]();
  assert.deepEqual(
    own.processIds.filter((pid) => existsSync(`/proc/${pid}`)),
    [],
  );
});
