/** A plan of many manifests on a real cluster, alternated with kubectl alone: its time, and the memory of the run. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startCluster } from '../../../agent/testing/cluster/cluster.ts';
import { createEnvironment, deployAndWatch } from '../../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../../measure/figure.ts';
import { megabytesOf, processesOfService } from '../../measure/processes.ts';
import { makeRepository } from '../../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../../measure/service.ts';
import { readTimelines } from '../../measure/timeline.ts';

const sampleMilliseconds = 250;
const manifests = 'manifests.json';

/** Mostly ConfigMaps, and Deployments without pods. */
function objectOf(index: number): object {
  const name = `object-${index}`;
  if (index % 10 < 7)
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { index: String(index) } };
  const labels = { app: name };
  const spec = { containers: [{ name: 'web', image: 'registry.test/web:1' }] };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** Runs kubectl with some input; 1 is the status of differences. @returns what it printed */
function kubectl(args: readonly string[], home: string, input = ''): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: home, KUBECONFIG: join(home, 'kubeconfig') };
  return new Promise((resolve, reject) => {
    const child = execFile('kubectl', [...args], { env, maxBuffer: 1e9 }, (error, output) =>
      error === null || error.code === 1 ? resolve(output) : reject(error),
    );
    child.stdin?.end(input);
  });
}

/** kubectl alone, in a home of its own as every run has one. @returns milliseconds */
async function planByHand(repository: string, folder: string, kubeconfig: string): Promise<number> {
  const home = join(folder, `home-${randomBytes(4).toString('hex')}`);
  await mkdir(home);
  await writeFile(join(home, 'kubeconfig'), kubeconfig);
  await writeFile(join(home, 'kustomization.yaml'), `resources: [${manifests}]\n`);
  await writeFile(join(home, manifests), await kubectl(['kustomize', repository], home));
  const startedAt = performance.now();
  const rendered = await kubectl(['kustomize', home], home);
  await kubectl(['diff', '--server-side', '-f', '-'], home, rendered);
  return performance.now() - startedAt;
}

/** The largest memory of the runner and its tree server while something happens. */
async function megabytesWhile(service: BenchService, work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let most = 0;
  const sampling = (async () => {
    while (!isOver) {
      const own = (await processesOfService(service)).filter(({ program }) => program === 'runner');
      const sizes = await Promise.all(own.map(({ pid }) => megabytesOf(pid)));
      most = Math.max(
        most,
        sizes.reduce((sum, size) => sum + size, 0),
      );
      await delay(sampleMilliseconds);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await sampling;
  }
  return most;
}

/** @returns milliseconds of the step that plans, from its first command to the stored plan */
async function planOnce(service: BenchService, environmentId: string): Promise<number> {
  const { id } = await deployAndWatch(service, environmentId, { deploymentType: 'dryRun' });
  const [timeline] = await readTimelines(service, [id]);
  const phases = timeline?.phases.filter(({ phase }) => phase === 'plan' || phase === 'reading') ?? [];
  return phases.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
}

export const kubernetesBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const [count, rounds, memoryRounds] = isQuick ? [100, 1, 1] : [1000, 10, 3];
  await using cluster = await startCluster();
  await using folder = await scratchFolder();
  const namespace = 'bench';
  await cluster.kubectl(['create', 'namespace', namespace]);
  const kubeconfig = cluster.kubeconfig(namespace);
  const items = Array.from({ length: count }, (_, index) => objectOf(index));
  const repository = await makeRepository(folder.repositories, 'manifests', {
    [manifests]: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    'kustomization.yaml': `resources: [${manifests}]\n`,
  });
  await using service = await startService(folder);
  const environmentId = await createEnvironment(service, repository, false, {
    type: 'k8s',
    k8sNamespace: namespace,
    configurationChanges: [{ name: 'ENVARIUM_KUBECONFIG', value: kubeconfig, type: 0, isSensitive: true }],
  });
  // In rounds of their own: taking samples takes processor time from what is measured.
  const megabytes: number[] = [];
  for (let round = 0; round < memoryRounds; round++)
    megabytes.push(await megabytesWhile(service, () => planOnce(service, environmentId)));
  const played: { readonly ours: number; readonly byHand: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const byHand = await planByHand(repository, folder.path, kubeconfig);
    played.push({ byHand, ours: await planOnce(service, environmentId) });
  }
  return {
    figures: [
      figure(
        'plan',
        'ms',
        played.map(({ ours }) => ours),
      ),
      figure(
        'kubectl alone',
        'ms',
        played.map(({ byHand }) => byHand),
      ),
      figure(
        'ratio to kubectl alone',
        '×',
        played.map(({ ours, byHand }) => ours / byHand),
      ),
      figure('most memory of the run without its tools', 'MB', megabytes),
    ],
    settings: { objects: count, rounds, changes: 'all objects are new' },
  };
};
