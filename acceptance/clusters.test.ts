/** Permissions of environments in a cluster: those of the credential of their project. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { sharedCluster, type TestNamespace, withCluster } from '../agent/testing/cluster/cluster.ts';
import { createEnvironment, type Home, homeOf, stepLines, untilEnd } from './runs.ts';
import { makeRepository, startService } from './service.ts';

const cluster = sharedCluster();

/** A project whose runs reach a namespace by a credential of a user with rights in it only. */
async function projectFor(client: Client, namespace: TestNamespace): Promise<Home> {
  const { organizationId } = await homeOf(client);
  const { name } = namespace;
  const { id: projectId } = await client.call('createProject', { body: { organizationId, name } });
  const { id: credentialId } = await client.call('createCredential', {
    body: {
      organizationId,
      name,
      type: 'K8S_KUBECONFIG_FILE',
      value: { kubeConfig: namespace.restrictedKubeconfig() },
    },
  });
  await client.call('assignCredential', { params: { credentialId, projectId } });
  return { organizationId, projectId };
}

test(
  'a deployment without the rights that its manifests need fails in the plan, with the reason',
  withCluster(),
  async (t) => {
    const namespace = await (await cluster()).namespace(t);
    await using service = await startService({ settings: { ENVARIUM_LOG_LEVEL: 'warn' } });
    const { client, folder } = service;
    const manifest =
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: taken-over}\nrules: []\n';
    const { path: repository } = await makeRepository(folder, 'forbidden', { 'role.yaml': manifest });
    const { deploymentId } = await createEnvironment(client, await projectFor(client, namespace), {
      type: 'k8s',
      k8sNamespace: namespace.name,
      repository,
    });
    const failed = await untilEnd(client, deploymentId, 'FAILURE');
    assert.match(failed.error?.message ?? '', /[Ff]orbidden/);
    assert.ok((await stepLines(client, deploymentId, 'k8s:diff')).length > 0);
  },
);
