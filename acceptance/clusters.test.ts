/** The life of environments in a cluster, from create to destroy, with manifests and with charts. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { sharedCluster, type TestNamespace, withCluster } from '../agent/src/testing/cluster/cluster.ts';
import { pathWith, toolboxProgram, withToolbox } from '../tools/toolbox/places.ts';
import { readFolder } from './examples.ts';
import { approveAndEnd, createEnvironment, type Home, homeOf, stepLines, untilEnd } from './runs.ts';
import { makeRepository, type RunningService, startService } from './service.ts';

const needs = withToolbox('helm').skip === false ? withCluster() : withToolbox('helm');
const cluster = sharedCluster();

describe('an environment in a cluster', { ...needs, concurrency: 2 }, () => {
  let service: RunningService;
  let client: Client;
  let home: Home;

  before(async () => {
    service = await startService({
      settings: {
        ENVARIUM_LOG_LEVEL: 'warn',
        ENVARIUM_AGENT_CONCURRENCY: '2',
        PATH: pathWith(toolboxProgram('helm')),
      },
    });
    client = service.client;
    home = await homeOf(client);
  });
  after(() => service?.[Symbol.asyncDispose]());

  /** A project whose runs reach a namespace by a credential of a user with rights in it only. */
  async function projectFor(namespace: TestNamespace): Promise<Home> {
    const { organizationId } = home;
    const { id: projectId } = await client.call('createProject', {
      body: { organizationId, name: namespace.name },
    });
    const { id: credentialId } = await client.call('createCredential', {
      body: {
        organizationId,
        name: namespace.name,
        type: 'K8S_KUBECONFIG_FILE',
        value: { kubeConfig: namespace.restrictedKubeconfig() },
      },
    });
    await client.call('assignCredential', { params: { credentialId, projectId } });
    return { organizationId, projectId };
  }

  async function deploy(id: string, body: object = {}): Promise<string> {
    return (await client.call('deployEnvironment', { params: { id }, body })).id;
  }

  for (const type of ['k8s', 'helm'] as const)
    test(`of type ${type} is created, changed, checked for drift, repaired and destroyed`, async (t) => {
      const namespace = await (await cluster()).namespace(t);
      namespace.playReadiness();
      const { kubectl } = namespace;
      const repository = await makeRepository(service.folder, type, await readFolder(type));
      const { id, deploymentId } = await createEnvironment(client, await projectFor(namespace), {
        type,
        workspaceName: `life-${type}`,
        k8sNamespace: namespace.name,
        repository: repository.path,
        requiresApproval: true,
        configurationChanges: [{ name: 'password', value: 'planted-hunter2', type: 1, isSensitive: true }],
      });
      const created = await approveAndEnd(client, deploymentId);
      assert.ok((created.planSummary?.added ?? 0) >= 3, JSON.stringify(created.planSummary));
      assert.doesNotMatch(JSON.stringify(created), /hunter2/);
      const deployments = async () =>
        JSON.parse(await kubectl(['get', 'deployments', '-o', 'json'])) as {
          items: { metadata: { name: string }; spec: { replicas: number } }[];
        };
      const [web] = (await deployments()).items;
      assert.ok(web);

      // Somebody scales by hand.
      await kubectl(['scale', 'deployment', web.metadata.name, '--replicas=5']);
      const drift = await untilEnd(client, await deploy(id, { deploymentType: 'driftDetection' }));
      const row = drift.plan?.resourceChanges.find((each) => each.path.includes('Deployment'));
      assert.deepEqual(
        row?.attributes.find(({ name }) => name === 'spec.replicas'),
        { name: 'spec.replicas', before: 5, after: web.spec.replicas },
        JSON.stringify(drift.plan),
      );
      assert.equal(row?.driftByCloud, true);
      assert.equal((await client.call('getEnvironment', { params: { id } })).driftStatus, 'DRIFTED');
      await approveAndEnd(client, await deploy(id));
      assert.equal((await deployments()).items[0]?.spec.replicas, web.spec.replicas);

      const { id: destroyId } = await client.call('destroyEnvironment', { params: { id } });
      await approveAndEnd(client, destroyId);
      assert.deepEqual((await deployments()).items, []);
      assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'INACTIVE');
    });

  test('without the rights that its manifests need fails in the plan, with the reason', async (t) => {
    const namespace = await (await cluster()).namespace(t);
    const manifest =
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: taken-over}\nrules: []\n';
    const repository = await makeRepository(service.folder, 'forbidden', { 'role.yaml': manifest });
    const { deploymentId } = await createEnvironment(client, await projectFor(namespace), {
      type: 'k8s',
      k8sNamespace: namespace.name,
      repository: repository.path,
    });
    const failed = await untilEnd(client, deploymentId, 'FAILURE');
    assert.match(failed.error?.message ?? '', /[Ff]orbidden/);
    const lines = await stepLines(client, deploymentId, 'k8s:diff');
    assert.ok(lines.length > 0);
  });
});
