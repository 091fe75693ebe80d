/** For tests: stacks that the real runner deploys to a server which answers as AWS does. */
import type { TestContext } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { findProgram } from '../../src/processes/programs.ts';
import { createSetup, type Ran, type RunnerSetup, type Running } from '../runner-setup.ts';
import { type StackServer, startStackServer } from './server.ts';

export interface StackStage {
  readonly aws: StackServer;
  readonly setup: RunnerSetup;
  /** @param parameters of type 1; `environment` is added to the credentials */
  job(changes?: Partial<Job>, values?: StageValues): Job;
  start(job: Job): Running;
  run(job: Job): Promise<Ran>;
  /** Applies a plan: in the kept tree, or as on another machine, in the transferred one. */
  apply(planned: Ran, options?: { onOtherMachine?: boolean; changes?: Partial<Job> }): Promise<Ran>;
  /** Plans and applies. */
  deploy(job: Job): Promise<Ran>;
}

export interface StageValues {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** @param files of the repository */
export async function stackStage(t: TestContext, files: Record<string, string>): Promise<StackStage> {
  const aws = await startStackServer();
  t.after(() => aws[Symbol.asyncDispose]());
  const setup = createSetup(t, files);
  const toolPaths = { git: findProgram('git') ?? '' };
  const list = (values: Readonly<Record<string, string>> = {}) =>
    Object.entries(values).map(([name, value]) => ({ name, value, isSensitive: false }));
  const stage: StackStage = {
    aws,
    setup,
    job: (changes = {}, { parameters, environment } = {}) =>
      setup.job({
        tool: 'cloudformation',
        variables: {
          environment: list({ ...aws.environment, ...environment }),
          terraform: list(parameters),
        },
        ...changes,
      }),
    start: (job) => setup.start(job, { toolPaths }),
    run: (job) => setup.run(job, { toolPaths }),
    apply: (planned, options) => stage.run(setup.applyJob(planned, options)),
    deploy: async (job) => stage.apply(await stage.run(job)),
  };
  return stage;
}
