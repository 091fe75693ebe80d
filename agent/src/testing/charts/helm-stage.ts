/** For tests: charts that the real runner deploys with the real helm to a real cluster. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { findOnPath } from '#guards/find-on-path.ts';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { type Cluster, type TestNamespace, withCluster } from '../cluster/cluster.ts';
import { createSetup, type Ran, type RunnerSetup, type Running, type StartOptions } from '../runner-setup.ts';

const run = promisify(execFile);

/** Options of a test that deploys charts. */
export function withHelm(): { skip: string | false } {
  const cluster = withCluster();
  return cluster.skip === false ? withToolbox('helm') : cluster;
}

/** The chart of the example repository, by file name. */
export function exampleChart(): Record<string, string> {
  const folder = join(import.meta.dirname, '../../../../examples/helm');
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    names.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

/** A variable that is not sensitive. */
export function plain(name: string, value: string, more: Partial<JobVariable> = {}): JobVariable {
  return { name, value, isSensitive: false, ...more };
}

export interface HelmStage {
  readonly setup: RunnerSetup;
  readonly namespace: TestNamespace;
  /** The name of the release. */
  readonly release: string;
  readonly toolPaths: Readonly<Record<string, string>>;
  /** A job of the environment; variables are in addition to the one that names the cluster. */
  job(changes?: Partial<Job>, more?: { environment?: JobVariable[]; values?: JobVariable[] }): Job;
  start(job: Job, options?: StartOptions): Running;
  run(job: Job, options?: StartOptions): Promise<Ran>;
  /** Plans and applies. @throws Error if one of them fails */
  deploy(job?: Job): Promise<{ readonly planned: Ran; readonly applied: Ran }>;
  /** helm itself, as a person uses it in the namespace. */
  helm(args: readonly string[]): Promise<string>;
}

/**
 * @param files of the repository
 * @param options `kubeconfig`: another way to the cluster
 */
export async function helmStage(
  t: TestContext,
  cluster: Cluster,
  files: Record<string, string> = exampleChart(),
  options: { readonly kubeconfig?: (namespace: TestNamespace) => string } = {},
): Promise<HelmStage> {
  const setup = createSetup(t, files);
  const namespace = await cluster.namespace(t);
  const kubeconfig = options.kubeconfig?.(namespace) ?? namespace.kubeconfig();
  const file = join(setup.folder, 'kubeconfig');
  writeFileSync(file, namespace.kubeconfig(), { mode: 0o600 });
  const toolPaths = {
    helm: toolboxProgram('helm') ?? '',
    kubectl: findOnPath('kubectl') ?? '',
    git: findOnPath('git') ?? '',
  };
  const stage: HelmStage = {
    setup,
    namespace,
    release: 'shop',
    toolPaths,
    job: (changes = {}, { environment = [], values = [] } = {}) =>
      setup.job({
        tool: 'helm',
        workspaceName: 'shop',
        secrets: [],
        variables: {
          environment: [
            { name: 'ENVARIUM_KUBECONFIG', value: kubeconfig, isSensitive: true },
            ...environment,
          ],
          terraform: values,
        },
        ...changes,
      }),
    start: (job, more = {}) => setup.start(job, { toolPaths, ...more }),
    run: (job, more = {}) => setup.run(job, { toolPaths, ...more }),
    async deploy(job = stage.job()) {
      const planned = await stage.run(job);
      if (planned.outcome.result !== 'planned') throw new Error(JSON.stringify(planned.outcome));
      const applied = await stage.run(setup.applyJob(planned));
      if (applied.outcome.result !== 'applied') throw new Error(JSON.stringify(applied.outcome));
      return { planned, applied };
    },
    helm: async (args) => {
      const { stdout } = await run(toolPaths.helm, [...args], {
        env: { HOME: setup.folder, KUBECONFIG: file },
      });
      return stdout;
    },
  };
  return stage;
}

function withoutNamespace(path: string, namespace: string | undefined): string {
  return namespace === undefined ? path : path.replace(`/${namespace}/`, '/');
}

/** A row of a plan. @param path without the namespace */
export function rowOf({ outcome }: Ran, path: string): ResourceChange | undefined {
  return outcome.plan?.resourceChanges.find((row) => withoutNamespace(row.path, row.moduleName) === path);
}

/** What a plan does with objects, by their paths without the namespace. */
export function actionsOf({ outcome }: Ran): Record<string, string> {
  const rows = outcome.plan?.resourceChanges ?? [];
  return Object.fromEntries(
    rows.map(({ path, moduleName, action }) => [withoutNamespace(path, moduleName), action]),
  );
}
