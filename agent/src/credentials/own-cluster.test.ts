import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import type { Job } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { sharedCluster, withCluster } from '../../testing/cluster/cluster.ts';
import { clusterStage } from '../../testing/cluster/stage.ts';
import { jobOf } from '../../testing/driver-job.ts';
import { expectResult } from '../../testing/outcomes.ts';
import { credentialDeliverer } from './deliver-credentials.ts';

const needs = withCluster();
const cluster = sharedCluster();

function variable(name: string, value: string): Job['variables'] {
  return { environment: [{ name, value, isSensitive: false }], terraform: [] };
}

/** A service account as a pod has it. */
function account(t: TestContext, token: string, authority: string): string {
  const folder = temporaryFolder(t, 'account-');
  writeFileSync(join(folder, 'token'), `${token}\n`);
  writeFileSync(join(folder, 'ca.crt'), authority);
  return folder;
}

function deliver(
  job: Job,
  accountFolder: string,
  address = 'https://10.0.0.1:443',
  workFolder = '/srv/runs',
) {
  const { hostname, port } = new URL(address);
  const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port || '443' };
  const make = credentialDeliverer({
    workFolder,
    privateHosts: new Set(),
    mayUseOwnIdentity: false,
    ownCluster: { environment, accountFolder },
    addresses: { azureManagement: '', gke: '' },
  });
  return make(job, AbortSignal.timeout(10_000));
}

test('a run without a cluster gets that of the agent, and another one does not', async (t) => {
  const folder = account(t, 'own-token', 'authority');
  const lent = await deliver(jobOf({ tool: 'k8s' }), folder);
  assert.deepEqual(lent.secrets, ['own-token']);
  const [kubeconfig, token] = lent.delivered?.files ?? [];
  assert.equal(token?.content, 'own-token');
  assert.deepEqual(parse(kubeconfig?.content ?? '').clusters[0].cluster, {
    server: 'https://10.0.0.1:443',
    'certificate-authority-data': Buffer.from('authority').toString('base64'),
  });
  for (const job of [
    jobOf({ tool: 'terraform' }),
    jobOf({ tool: 'k8s', variables: variable('KUBECONFIG', 'config') }),
    jobOf({ tool: 'k8s', variables: variable('ENVARIUM_KUBECONFIG', 'x') }),
  ])
    assert.equal((await deliver(job, folder)).delivered, undefined);
});

test('an agent that has no service account says so', async () => {
  const { resolution } = await deliver(jobOf({ tool: 'k8s' }), '/nowhere');
  assert.match(resolution?.failures[0] ?? '', /no service account.*ENVARIUM_KUBERNETES_OWN_IDENTITY/);
});

test('secret parts of a kubeconfig in a variable are masked', async (t) => {
  const folder = account(t, 'own-token', 'authority');
  const variables = variable('ENVARIUM_KUBECONFIG', 'users: [{ name: u, user: { token: planted-token } }]');
  assert.deepEqual((await deliver(jobOf({ tool: 'k8s', variables }), folder)).secrets, ['planted-token']);
});

test("a run works with the agent's service account", needs, async (t) => {
  const shared = await cluster();
  const manifest = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"1"}}\n';
  const stage = await clusterStage(t, shared, { 'a.json': manifest }, 'k8s');
  const folder = account(t, stage.namespace.restrictedToken(), shared.ca);
  const { workFolder } = stage.setup;
  const job = stage.job({ variables: { environment: [], terraform: [] } });
  const lend = (one: Job) => deliver(one, folder, shared.url, workFolder);
  const planned = await stage.run(await lend(job));
  assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0 });
  await expectResult('applied', stage.run(await lend(stage.setup.applyJob(planned))));
});
