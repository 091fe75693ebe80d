/** For tests: the real Ansible of the toolbox, run by the real runner on a repository. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { pythonProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { findProgram } from '../src/processes/programs.ts';
import { createSetup, type Ran, type RunnerSetup, type Running } from './runner-setup.ts';

/** Options of tests that run Ansible. */
export const withAnsible = withToolbox('ansible');

export interface AnsibleStage {
  readonly setup: RunnerSetup;
  /** A folder that runs may write to. */
  readonly world: string;
  job(changes?: Partial<Job>): Job;
  start(job: Job): Running;
  run(job: Job): Promise<Ran>;
  /** Applies a plan: in the kept tree, or as on another machine, in the transferred one. */
  apply(planned: Ran, options?: { onOtherMachine?: boolean; changes?: Partial<Job> }): Promise<Ran>;
}

/**
 * @param variables of the run: `extra` are of type 1, the others environment variables. `site_folder` is a folder
 * in the world
 */
export function ansibleStage(
  t: TestContext,
  files: Record<string, string>,
  variables: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly extra?: Readonly<Record<string, string>>;
    /** A sandbox does not show the world: there is none, unless this is true. */
    readonly isSandboxed?: boolean;
  } = {},
): AnsibleStage {
  const setup = createSetup(t, files, variables.isSandboxed === true ? {} : { isolation: 'off' });
  const world = join(setup.folder, 'world');
  mkdirSync(world);
  chmodSync(world, 0o777);
  const list = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => ({ name, value, isSensitive: false }));
  const toolPaths = {
    'ansible-playbook': pythonProgram('ansible', 'ansible-playbook') ?? '',
    'ansible-galaxy': pythonProgram('ansible', 'ansible-galaxy') ?? '',
    git: findProgram('git') ?? '',
  };
  const stage: AnsibleStage = {
    setup,
    world,
    job: (changes = {}) =>
      setup.job({
        tool: 'ansible',
        variables: {
          environment: list(variables.environment ?? {}),
          terraform: list({ site_folder: join(world, 'site'), ...variables.extra }),
        },
        ...changes,
      }),
    start: (job) => setup.start(job, { toolPaths }),
    run: (job) => setup.run(job, { toolPaths }),
    apply: (planned, options) => stage.run(setup.applyJob(planned, options)),
  };
  return stage;
}
