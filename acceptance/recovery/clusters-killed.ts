/**
 * Deployments to a cluster of which a process is killed while they wait for pods: by the end everything exists once,
 * and the next deployment continues.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sharedCluster, type TestNamespace, withCluster } from '../../agent/testing/cluster/cluster.ts';
import { readExample } from '../../tools/examples.ts';
import { pathWith, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { createEnvironment, deploy, destroyAndEnd, until, untilEnd, untilStatus, wholeLog } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { isInDeployment, MortalService, type Victim } from './mortal-service.ts';
import { commandPid, runnerPid, sendSignal } from './processes.ts';

const needs = withToolbox('helm').skip === false ? withCluster() : withToolbox('helm');
const cluster = sharedCluster();

interface ClusterTool {
  readonly type: 'k8s' | 'helm';
  /** Of the command that waits. */
  readonly waiting: RegExp;
}

const kinds: readonly ClusterTool[] = [
  { type: 'k8s', waiting: /kubectl.*rollout status/ },
  { type: 'helm', waiting: /helm.*upgrade/ },
];

const objectsOf = async ({ kubectl }: TestNamespace): Promise<string[]> =>
  (await kubectl(['get', 'deployments,services', '-o', 'name'])).trim().split('\n').sort();

/** Declares the tests. @param victims the processes that are killed */
export function killInClusters(victims: readonly Victim[]): void {
  describe('a deployment to a cluster, killed while it waits for pods,', needs, () => {
    const mortal = new MortalService({ PATH: pathWith(toolboxProgram('helm')) });

    /** A first deployment whose pods do not become ready. */
    async function waitingRun({ type, waiting }: ClusterTool, namespace: TestNamespace) {
      const repository = await makeRepository(mortal.folder, `${type}-${namespace.name}`, readExample(type));
      const created = await createEnvironment(mortal.client, mortal.home, {
        type,
        workspaceName: 'killed',
        k8sNamespace: namespace.name,
        repository: repository.path,
        configurationChanges: [
          { name: 'ENVARIUM_KUBECONFIG', value: namespace.restrictedKubeconfig(), isSensitive: true },
        ],
      });
      await until('the deployment in the cluster', async () =>
        (await objectsOf(namespace)).some((name) => name.startsWith('deployment')),
      );
      return { ...created, command: await commandPid(mortal.running, created.id, waiting) };
    }

    /** The next deployment, whose pods become ready. @returns its log */
    async function continued(
      id: string,
      namespace: TestNamespace,
      before: readonly string[],
    ): Promise<string> {
      namespace.playReadiness();
      const next = await deploy(mortal.client, id);
      await untilEnd(mortal.client, next.id);
      assert.deepEqual(await objectsOf(namespace), before, 'everything exists once');
      await destroyAndEnd(mortal.client, id);
      assert.deepEqual(await objectsOf(namespace), ['']);
      return wholeLog(mortal.client, next.id);
    }

    for (const kind of kinds) {
      const { type } = kind;
      const recovery = type === 'helm' ? /pending-install/ : /rolled out|No changes/;

      for (const victim of victims.filter(isInDeployment))
        test(`${type}: the ${victim} is killed; the deployment fails, and the next one continues`, async (t) => {
          const namespace = await (await cluster()).namespace(t);
          const { id, deploymentId, command } = await waitingRun(kind, namespace);
          const before = await objectsOf(namespace);
          sendSignal(victim === 'tool' ? command : await runnerPid(mortal.running, id), 'SIGKILL');
          const ended = await untilStatus(mortal.client, deploymentId);
          assert.match(ended.status, victim === 'tool' ? /^FAILURE$/ : /FAILURE$/, ended.error?.message);
          const log = await continued(id, namespace, before);
          if (victim === 'tool') assert.match(log, recovery);
        });

      for (const victim of victims.filter((each) => !isInDeployment(each)))
        test(`${type}: the ${victim} is killed; the deployment continues and succeeds`, async (t) => {
          const namespace = await (await cluster()).namespace(t);
          const { id, deploymentId } = await waitingRun(kind, namespace);
          const before = await objectsOf(namespace);
          await mortal.kill(victim);
          const playing = namespace.playReadiness();
          await untilEnd(mortal.client, deploymentId);
          await playing[Symbol.asyncDispose]();
          await continued(id, namespace, before);
        });
    }
  });
}
