/** For tests: the real runner works on a namespace of a real cluster. */
import type { TestContext } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { findProgram } from '../../src/processes/programs.ts';
import { createSetup, type Ran, type RunnerSetup, type Running, type StartOptions } from '../runner-setup.ts';
import type { Cluster, TestNamespace } from './cluster.ts';

export interface Stage {
  readonly setup: RunnerSetup;
  readonly namespace: TestNamespace;
  /** The programs of its runs. */
  readonly toolPaths: Record<string, string>;
  /** A job of the tool on the namespace, as a user who may do everything. */
  job(changes?: Partial<Job>): Job;
  /** Runs a job, by default on the state that the runs so far have left. */
  run(job: Job, options?: StartOptions): Promise<Ran>;
  start(job: Job, options?: StartOptions): Running;
  /** Plans and applies; the plan must succeed. */
  deploy(changes?: Partial<Job>): Promise<{ readonly planned: Ran; readonly applied: Ran }>;
  /** Runs the apply of a plan. */
  apply(planned: Ran, options?: { onOtherMachine?: boolean; changes?: Partial<Job> }): Promise<Ran>;
}

export interface StageOptions {
  /** Programs in addition to kubectl and git. */
  readonly programs?: readonly string[];
  /** Programs that are not on the PATH. */
  readonly toolPaths?: Readonly<Record<string, string>>;
  readonly variables?: Partial<Job['variables']>;
  readonly kubeconfig?: (namespace: TestNamespace) => string;
  readonly systemVariables?: Readonly<Record<string, string>>;
}

/** A repository with these files, and a namespace of the cluster. */
export async function clusterStage(
  t: TestContext,
  cluster: Cluster,
  files: Record<string, string>,
  tool: Job['tool'],
  options: StageOptions = {},
): Promise<Stage> {
  const namespace = await cluster.namespace(t);
  const setup = createSetup(t, files);
  const names = ['kubectl', 'git', ...(options.programs ?? [])];
  const found = Object.fromEntries(names.map((name) => [name, findProgram(name) ?? '']));
  const toolPaths = { ...found, ...options.toolPaths };
  let state: Buffer | null = null;
  const variable = {
    name: 'ENVARIUM_KUBECONFIG',
    value: (options.kubeconfig ?? ((own) => own.kubeconfig()))(namespace),
    isSensitive: true,
  };
  const job = (changes: Partial<Job> = {}) =>
    setup.job({
      tool,
      variables: {
        environment: [variable, ...(options.variables?.environment ?? [])],
        terraform: options.variables?.terraform ?? [],
      },
      systemVariables: {
        ENVARIUM_ENVIRONMENT_NAME: 'one',
        ENVARIUM_K8S_NAMESPACE: namespace.name,
        ...options.systemVariables,
      },
      ...changes,
    });
  const run = async (wanted: Job, more: StartOptions = {}) => {
    const ran = await setup.run(wanted, { toolPaths, state, ...more });
    state = setup.newestState(ran) ?? state;
    return ran;
  };
  const apply: Stage['apply'] = (planned, more) => run(setup.applyJob(planned, more));
  return {
    setup,
    namespace,
    toolPaths,
    job,
    run,
    start: (wanted, more) => setup.start(wanted, { toolPaths, state, ...more }),
    apply,
    async deploy(changes) {
      const planned = await run(job(changes));
      if (planned.outcome.result !== 'planned') throw new Error(JSON.stringify(planned.outcome));
      return { planned, applied: await apply(planned) };
    },
  };
}
