/** For tests: charts that the real runner deploys with the real helm to a real cluster. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { readExample } from '../../../tools/examples.ts';
import { toolboxProgram, withToolbox } from '../../../tools/toolbox/places.ts';
import { type Cluster, withCluster } from '../cluster/cluster.ts';
import { clusterStage, type Stage, type StageOptions } from '../cluster/stage.ts';
import type { Ran } from '../runner-setup.ts';

const run = promisify(execFile);

/** Options of a test that deploys charts. */
export function withHelm(): { skip: string | false } {
  const cluster = withCluster();
  return cluster.skip === false ? withToolbox('helm') : cluster;
}

/** The chart of the example repository, by file name. */
export const exampleChart = (): Record<string, string> => readExample('helm');

/** A variable that is not sensitive. */
export function plain(name: string, value: string, more: Partial<JobVariable> = {}): JobVariable {
  return { name, value, isSensitive: false, ...more };
}

/** Variables of a job in addition to the one that names the cluster. */
export interface MoreVariables {
  readonly environment?: readonly JobVariable[];
  readonly values?: readonly JobVariable[];
}

export interface HelmStage extends Pick<Stage, 'setup' | 'namespace' | 'toolPaths' | 'run' | 'start'> {
  /** A job of the environment, whose release is `shop`, in the namespace of the kubeconfig. */
  job(changes?: Partial<Job>, more?: MoreVariables): Job;
  /** Plans and applies. @throws Error if one of them fails */
  deploy(job?: Job): Promise<{ readonly planned: Ran; readonly applied: Ran }>;
  /** helm itself, as a person uses it in the namespace. */
  helm(args: readonly string[]): Promise<string>;
}

/** @param files of the repository */
export async function helmStage(
  t: TestContext,
  cluster: Cluster,
  files: Record<string, string> = exampleChart(),
  options: Pick<StageOptions, 'kubeconfig'> = {},
): Promise<HelmStage> {
  const program = toolboxProgram('helm') ?? '';
  const stage = await clusterStage(t, cluster, files, 'helm', { ...options, toolPaths: { helm: program } });
  const { setup, namespace } = stage;
  const file = join(setup.folder, 'kubeconfig');
  writeFileSync(file, namespace.kubeconfig(), { mode: 0o600 });
  const job: HelmStage['job'] = (changes = {}, { environment = [], values = [] } = {}) => {
    const usual = stage.job({ workspaceName: 'shop', systemVariables: {} });
    const variables = {
      environment: [...usual.variables.environment, ...environment],
      terraform: [...values],
    };
    return { ...usual, deploymentId: randomUUID(), variables, ...changes };
  };
  return {
    ...stage,
    job,
    async deploy(wanted = job()) {
      const planned = await stage.run(wanted);
      if (planned.outcome.result !== 'planned') throw new Error(JSON.stringify(planned.outcome));
      const applied = await stage.apply(planned);
      if (applied.outcome.result !== 'applied') throw new Error(JSON.stringify(applied.outcome));
      return { planned, applied };
    },
    async helm(args) {
      const environment = { HOME: setup.folder, KUBECONFIG: file };
      return (await run(program, [...args], { env: environment })).stdout;
    },
  };
}

function withoutNamespace(path: string, namespace: string | undefined): string {
  return namespace === undefined ? path : path.replace(`/${namespace}/`, '/');
}

/** A row of a plan. @param path without the namespace */
export function rowOf({ outcome }: Ran, path: string): ResourceChange | undefined {
  return outcome.plan?.resourceChanges.find((row) => withoutNamespace(row.path, row.moduleName) === path);
}

/** Changes of a plan to objects, by their paths without the namespace. */
export function actionsOf({ outcome }: Ran): Record<string, string> {
  const rows = outcome.plan?.resourceChanges ?? [];
  return Object.fromEntries(
    rows.map(({ path, moduleName, action }) => [withoutNamespace(path, moduleName), action]),
  );
}
