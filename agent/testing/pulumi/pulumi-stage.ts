/** For tests: the real Pulumi of the toolbox, run by the real runner on a repository. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { sha256 as hashOf } from '#protocol/approved.ts';
import type { Job } from '#protocol/messages/job.ts';
import { findProgram } from '../../src/processes/programs.ts';
import { createSetup, type Ran, type RunnerSetup, type Running, type StartOptions } from '../runner-setup.ts';
import { pulumiFolder } from './pulumi-folder.ts';

export const passphrase = 'correct horse battery staple';

export interface PulumiStage {
  readonly setup: RunnerSetup;
  /** A folder that runs may write to. */
  readonly world: string;
  job(changes?: Partial<Job>): Job;
  start(job: Job, options?: StartOptions): Running;
  run(job: Job, options?: StartOptions): Promise<Ran>;
  /** Applies a plan: in the kept tree, or as on another machine, in the transferred one. */
  apply(planned: Ran, options?: { onOtherMachine?: boolean; changes?: Partial<Job> }): Promise<Ran>;
  /** The changes of a job that continues with the state that a run has left. */
  after(ran: Ran): { readonly changes: Partial<Job>; readonly options: StartOptions };
  /** Plans and applies, with the state that a run has left. */
  deploy(changes?: Partial<Job>, before?: Ran): Promise<{ planned: Ran; applied: Ran }>;
}

export interface StageVariables {
  readonly environment?: Readonly<Record<string, string>>;
  /** Values of the stack's configuration. */
  readonly values?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** Without one of its own. */
  readonly hasNoPassphrase?: true;
}

/** The variables of a run; `world` among the values is the folder that runs may write to. */
export function variablesOf(world: string, variables: StageVariables): Job['variables'] {
  const list = (values: Readonly<Record<string, string>> = {}, isSensitive = false) =>
    Object.entries(values).map(([name, value]) => ({ name, value, isSensitive }));
  const path = `${pulumiFolder()}:/usr/local/bin:/usr/bin:/bin`;
  const own: Record<string, string> = variables.hasNoPassphrase
    ? {}
    : { PULUMI_CONFIG_PASSPHRASE: passphrase };
  return {
    environment: [...list({ PATH: path, ...variables.environment }), ...list(own, true)],
    terraform: [...list({ world, ...variables.values }), ...list(variables.secrets, true)],
  };
}

export function pulumiStage(
  t: TestContext,
  files: Record<string, string>,
  variables: StageVariables = {},
): PulumiStage {
  // A sandbox would not show the world.
  const setup = createSetup(t, files, { isolation: 'off' });
  const world = join(setup.folder, 'world');
  mkdirSync(world);
  chmodSync(world, 0o777);
  const folder = pulumiFolder();
  const toolPaths = {
    pulumi: join(folder, 'pulumi'),
    'pulumi-language-yaml': join(folder, 'pulumi-language-yaml'),
    git: findProgram('git') ?? '',
  };
  const stage: PulumiStage = {
    setup,
    world,
    job: (changes = {}) =>
      setup.job({
        tool: 'pulumi',
        variables: variablesOf(world, variables),
        secrets: [passphrase, ...Object.values(variables.secrets ?? {})],
        ...changes,
      }),
    start: (job, options) => setup.start(job, { toolPaths, ...options }),
    run: (job, options) => setup.run(job, { toolPaths, ...options }),
    apply: (planned, options) => stage.run(setup.applyJob(planned, options)),
    after(ran) {
      const state = setup.newestState(ran);
      if (state === null) throw new Error('the run left no state');
      const { serial, lineage } = JSON.parse(state.toString()) as { serial: number; lineage: string };
      const current = { stateVersionId: 'version', serial, lineage, sha256: hashOf(state) };
      return { changes: { state: { isForced: false, current } }, options: { state } };
    },
    async deploy(changes = {}, before) {
      const known = before === undefined ? null : stage.after(before);
      const planned = await stage.run(stage.job({ ...known?.changes, ...changes }), known?.options);
      if (planned.outcome.result !== 'planned') throw new Error(JSON.stringify(planned.outcome));
      return { planned, applied: await stage.apply(planned) };
    },
  };
  return stage;
}
