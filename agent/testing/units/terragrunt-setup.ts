/** For tests: repositories of terragrunt units, and runs of them with terraform and with OpenTofu. */
import type { TestContext } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { toolboxProgram, withToolbox } from '../../../tools/toolbox/places.ts';
import { findProgram } from '../../src/processes/programs.ts';
import {
  createSetup,
  type Ran,
  type RunnerSetup,
  type StartOptions,
  withTerraform,
} from '../runner-setup.ts';

export const binaries = ['opentofu', 'terraform'] as const;
export type Binary = (typeof binaries)[number];

/** Skips a test where one of the programs is missing. */
export function withTerragrunt(binary: Binary = 'opentofu'): { readonly skip: string | false } {
  const needed = binary === 'opentofu' ? withToolbox('terragrunt', 'opentofu') : withToolbox('terragrunt');
  if (needed.skip !== false || binary === 'opentofu') return needed;
  return { skip: withTerraform.skip === false ? false : String(withTerraform.skip) };
}

export const terragruntPaths = {
  terragrunt: toolboxProgram('terragrunt') ?? '',
  tofu: toolboxProgram('opentofu') ?? '',
  terraform: findProgram('terraform') ?? '',
  git: findProgram('git') ?? '',
};

/** A module with one resource; the outputs are its id and its input. */
export const moduleCode = `variable "input" {
  default = "none"
}
resource "terraform_data" "it" {
  input = var.input
}
output "id" {
  value = terraform_data.it.id
}
output "input" {
  value = terraform_data.it.output
}
`;

/** A unit of the module, with outputs of another one as its input. */
export function unitCode(input: string, needs?: string): string {
  const dependency =
    needs === undefined
      ? ''
      : `dependency "it" {
  config_path  = "../${needs}"
  mock_outputs = { id = "mock-id", input = "mock-input" }
  mock_outputs_allowed_terraform_commands = ["plan", "init", "validate"]
}
`;
  return `terraform {
  source = "../../modules//one"
}
${dependency}inputs = {
  input = ${JSON.stringify(input).replaceAll('\\"', '"')}
}
`;
}

export interface TerragruntSetup extends RunnerSetup {
  /** Plans and, if that succeeds, applies; with the state of the last one. */
  deploy(changes?: Partial<Job>, options?: Deploy): Promise<Ran>;
  plan(changes?: Partial<Job>, options?: StartOptions): Promise<Ran>;
  apply(planned: Ran, options?: Deploy): Promise<Ran>;
  /** The newest state of all runs. */
  state(): Buffer | null;
}

export interface Deploy extends StartOptions {
  readonly onOtherMachine?: boolean;
}

/** A repository whose units are below `live`. */
export function createTerragrunt(
  t: TestContext,
  binary: Binary,
  files: Record<string, string>,
  isRunAll = true,
): TerragruntSetup {
  const setup = createSetup(t, files);
  let state: Buffer | null = null;
  const withState = (options: StartOptions): StartOptions => ({
    toolPaths: terragruntPaths,
    ...(state === null ? {} : { state }),
    ...options,
  });
  const keep = (ran: Ran): Ran => {
    state = setup.newestState(ran) ?? state;
    return ran;
  };
  const terragrunt: TerragruntSetup = {
    ...setup,
    state: () => state,
    plan: async (changes = {}, options = {}) => {
      const settings = { terragruntTfBinary: binary, isTerragruntRunAll: isRunAll };
      const base = setup.job({ tool: 'terragrunt', settings });
      const job = { ...base, source: { ...base.source, path: 'live' }, ...changes };
      return setup.run(job, withState(options));
    },
    apply: async (planned, { onOtherMachine = false, ...options } = {}) =>
      keep(await setup.run(setup.applyJob(planned, { onOtherMachine }), withState(options))),
    async deploy(changes = {}, { onOtherMachine = false, ...options } = {}) {
      const planned = await terragrunt.plan(changes, options);
      return planned.outcome.result === 'planned'
        ? terragrunt.apply(planned, { onOtherMachine, ...options })
        : planned;
    },
  };
  return terragrunt;
}
