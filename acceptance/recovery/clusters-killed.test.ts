/**
 * Deployments to a cluster of which a process is killed while they wait for pods: by the end everything exists once,
 * and the next deployment continues.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { sharedCluster, type TestNamespace, withCluster } from '../../agent/src/testing/cluster/cluster.ts';
import { pathWith, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { readFolder } from '../examples.ts';
import { createEnvironment, type Home, homeOf, until, untilEnd, untilStatus, wholeLog } from '../runs.ts';
import {
  makeRepository,
  removeScratch,
  type RunningService,
  scratchFolder,
  startService,
} from '../service.ts';
import { agentPid, commandPid, runnerPid, sendSignal } from './processes.ts';

const needs = withToolbox('helm').skip === false ? withCluster() : withToolbox('helm');
const cluster = sharedCluster();

interface Kind {
  readonly type: 'k8s' | 'helm';
  /** Of the command that waits. */
  readonly waiting: RegExp;
}

const kinds: readonly Kind[] = [
  { type: 'k8s', waiting: /kubectl.*rollout status/ },
  { type: 'helm', waiting: /helm.*upgrade/ },
];

const objectsOf = async ({ kubectl }: TestNamespace): Promise<string[]> =>
  (await kubectl(['get', 'deployments,services', '-o', 'name'])).trim().split('\n').sort();

describe('a deployment to a cluster, killed while it waits for pods,', needs, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;

  const start = async () => {
    service = await startService({
      folder,
      settings: {
        ENVARIUM_LOG_LEVEL: 'warn',
        ENVARIUM_ABORT_SECONDS: '5',
        ENVARIUM_BOOTSTRAP_API_SECRET: 'clusters'.repeat(8),
        PATH: pathWith(toolboxProgram('helm')),
      },
    });
    client = service.client;
  };
  before(async () => {
    folder = await scratchFolder();
    await start();
    home = await homeOf(client);
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await removeScratch(folder);
  });

  /** A first deployment whose pods do not become ready. */
  async function waitingRun({ type, waiting }: Kind, namespace: TestNamespace) {
    const repository = await makeRepository(folder, `${type}-${namespace.name}`, await readFolder(type));
    const created = await createEnvironment(client, home, {
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
    return { ...created, command: await commandPid(service, created.id, waiting) };
  }

  /** The next deployment, whose pods become ready. @returns its log */
  async function continued(id: string, namespace: TestNamespace, before: readonly string[]): Promise<string> {
    namespace.playReadiness();
    const next = await client.call('deployEnvironment', { params: { id }, body: {} });
    await untilEnd(client, next.id);
    assert.deepEqual(await objectsOf(namespace), before, 'everything exists once');
    const destroy = await client.call('destroyEnvironment', { params: { id } });
    await untilEnd(client, destroy.id);
    assert.deepEqual(await objectsOf(namespace), ['']);
    return wholeLog(client, next.id);
  }

  for (const kind of kinds) {
    const { type } = kind;
    const recovery = type === 'helm' ? /pending-install/ : /rolled out|No changes/;

    for (const victim of ['tool', 'runner'] as const)
      test(`${type}: the ${victim} is killed; the deployment fails, and the next one continues`, async (t) => {
        const namespace = await (await cluster()).namespace(t);
        const { id, deploymentId, command } = await waitingRun(kind, namespace);
        const before = await objectsOf(namespace);
        sendSignal(victim === 'tool' ? command : await runnerPid(service, id), 'SIGKILL');
        const ended = await untilStatus(client, deploymentId);
        assert.match(ended.status, victim === 'tool' ? /^FAILURE$/ : /FAILURE$/, ended.error?.message);
        const log = await continued(id, namespace, before);
        if (victim === 'tool') assert.match(log, recovery);
      });

    for (const victim of ['agent', 'server'] as const)
      test(`${type}: the ${victim} is killed; the deployment continues and succeeds`, async (t) => {
        const namespace = await (await cluster()).namespace(t);
        const { id, deploymentId } = await waitingRun(kind, namespace);
        const before = await objectsOf(namespace);
        if (victim === 'agent') sendSignal(await agentPid(service), 'SIGKILL');
        else {
          const ended = new Promise((resolve) => service.process.once('exit', resolve));
          service.process.kill('SIGKILL');
          await ended;
          await start();
        }
        const playing = namespace.playReadiness();
        await untilEnd(client, deploymentId);
        await playing[Symbol.asyncDispose]();
        await continued(id, namespace, before);
      });
  }
});
