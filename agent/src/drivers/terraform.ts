/** The driver of terraform: state format 4, plan format 1; tried with terraform 1.11.4. */
import { dirname, join } from 'node:path';
import { runEnvironment } from '#protocol/run-environment.ts';
import type { Job } from '#protocol/messages.ts';
import { variableRefusal, workspaceNameRefusal } from '#protocol/variable-refusals.ts';
import { maskJson } from '../logs/mask.ts';
import type { Command, Driver, DriverContext, PlanReading } from './driver.ts';
import { withoutLongTexts } from './terraform-attributes.ts';
import { isOurs, readCodeBackend, stateFileName, stateOverrideFiles, stateOverrideProblem } from './terraform-backend.ts';
import { lastTerraformDiagnostic } from './terraform-diagnostics.ts';
import { commonPlan } from './terraform-plan.ts';
import { parseTerraformPlan, type TerraformPlan } from './terraform-plan-json.ts';
import { terraformProgress } from './terraform-progress.ts';
import { readTerraformState } from './terraform-state.ts';
import { variablesFile, variablesFileName } from './terraform-variables.ts';
import { installedModules, lockedProviders } from './terraform-versions.ts';

const program = 'terraform';
const lockFile = '.terraform.lock.hcl';
const builtinProvider = 'terraform.io/builtin/terraform';

/** Names under which the runner hands captured output back. */
const captured = { plan: 'plan.json', refresh: 'refresh.json', state: 'state.json' } as const;

function refusals(job: Job): string[] {
  const environment = runEnvironment(job);
  const found = [workspaceNameRefusal(job.workspaceName)];
  for (const { name } of job.variables.environment) found.push(variableRefusal(0, name, environment[name] ?? ''));
  for (const { name, value } of job.variables.terraform) found.push(variableRefusal(1, name, value));
  return found.filter((text) => text !== null);
}

async function warnings({ tree, job }: Pick<DriverContext, 'tree' | 'job'>): Promise<string[]> {
  const names = await tree.list('');
  const found: string[] = [];
  if (names.includes('terraform.tfstate')) {
    found.push(
      'The repository holds a terraform.tfstate. It is not used where the service keeps the state: the environment has a state of its own.',
    );
  }
  const later = names.filter((name) => /\.auto\.tfvars(\.json)?$/.test(name) && name > variablesFileName);
  if (later.length > 0 && job.variables.terraform.length > 0) {
    found.push(`${later.join(', ')} in the repository is read after the environment's variables and wins where both set a variable.`);
  }
  return found;
}

function environment({ job, stateFolder }: DriverContext): Record<string, string> {
  const own = runEnvironment(job);
  return {
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
    // Mirrors and credentials of a run are its own affair; a person's ~/.terraformrc is not.
    TF_CLI_CONFIG_FILE: own['TF_CLI_CONFIG_FILE'] ?? '/dev/null',
    ...(stateFolder === null ? {} : { TF_WORKSPACE: job.workspaceName }),
  };
}

/** The tool's own guard, which a file of ours in the folder would disarm: a wrong path must not plan to destroy everything. */
function refuseEmptyFolder({ type, source }: Job, names: readonly string[]): void {
  if (type === 'destroy' || names.some((name) => /\.tf(\.json)?$/.test(name))) return;
  const folder = source.path ? `path ${JSON.stringify(source.path)}` : 'the root';
  throw new Error(`No configuration files: ${folder} of ${source.repository} has no .tf file; set path to the folder that has them`);
}

async function files({ job, tree, configurationFolder, stateFolder }: DriverContext) {
  const names = await tree.list('');
  refuseEmptyFolder(job, names);
  const variables = await variablesFile(job);
  const override = stateFolder === null ? [] : stateOverrideFiles(names, configurationFolder, stateFolder);
  return [...override, ...(variables ? [variables] : [])];
}

async function workspaceCommand({ job, stateFolder, tree }: DriverContext): Promise<Command> {
  const step = 'tf:workspace';
  // With TF_WORKSPACE set `select` fails, and some backends know no workspaces.
  const isFixed = stateFolder !== null || !(await readCodeBackend(tree)).hasWorkspaces;
  if (isFixed) return { step, program, label: 'terraform workspace show', args: ['workspace', 'show'] };
  return { step, program, label: 'terraform workspace select', args: ['workspace', 'select', '-or-create', '--', job.workspaceName] };
}

async function prepare(context: DriverContext): Promise<Command[]> {
  // What was approved with the lock file must be found again, not chosen anew.
  const readonly = context.job.phase === 'apply' ? ['-lockfile=readonly'] : [];
  const init: Command = { step: 'tf:init', program, label: 'terraform init', args: ['init', '-input=false', ...readonly] };
  return [init, await workspaceCommand(context)];
}

/** A PR plan runs beside deployments of the same environment and must not wait for their lock. */
function planArguments({ job }: DriverContext): string[] {
  const lock = job.type === 'prPlan' ? ['-lock=false'] : [];
  return ['plan', '-input=false', '-detailed-exitcode', ...lock, ...job.targets.map((target) => `-target=${target}`)];
}

function plan(context: DriverContext): Command[] {
  const { job, planFile } = context;
  const step = 'tf:plan';
  const isDestroy = job.type === 'destroy';
  const flags = [...(isDestroy ? ['-destroy'] : []), ...(job.skipStateRefresh ? ['-refresh=false'] : [])];
  const label = isDestroy ? 'terraform plan -destroy' : 'terraform plan';
  const planning: Command = { step, program, label, args: [...planArguments(context), ...flags, `-out=${planFile}`], goodExitCodes: [2] };
  const showing: Command = { step, program, label: 'terraform show', args: ['show', '-json', planFile], captureTo: captured.plan };
  return [...(job.type === 'driftDetection' ? refreshCommands(context) : []), planning, showing];
}

/** What changed behind the code's back, read apart from what the code itself would change. */
function refreshCommands(context: DriverContext): Command[] {
  const step = 'tf:plan';
  const file = join(dirname(context.planFile), 'refresh-only.tfplan');
  return [
    {
      step,
      program,
      label: 'terraform plan -refresh-only',
      args: [...planArguments(context), '-refresh-only', `-out=${file}`],
      goodExitCodes: [2],
    },
    { step, program, label: 'terraform show (refresh-only)', args: ['show', '-json', file], captureTo: captured.refresh },
  ];
}

function apply({ job, planFile, stateFolder }: DriverContext): Command[] {
  const isDestroy = job.type === 'destroy';
  const applying: Command = {
    step: isDestroy ? 'tf:destroy' : 'tf:apply',
    program,
    label: isDestroy ? 'terraform apply (destroy)' : 'terraform apply',
    args: ['apply', '-input=false', planFile],
    isChanging: true,
  };
  if (stateFolder !== null || isDestroy) return [applying];
  // A state that the code's own backend keeps is read once, for outputs and resources.
  return [applying, { step: 'tf:output', program, label: 'terraform state pull', args: ['state', 'pull'], captureTo: captured.state }];
}

function providersOf(plan: TerraformPlan, lock: string | null): Record<string, string> {
  const usesBuiltin = (plan.resource_changes ?? []).some((resource) => resource.provider_name === builtinProvider);
  return { ...lockedProviders(lock), ...(usesBuiltin ? { [builtinProvider]: plan.terraform_version } : {}) };
}

async function readPlan({ job, tree }: DriverContext, files: ReadonlyMap<string, Uint8Array>): Promise<PlanReading> {
  const read = (name: string): TerraformPlan | undefined => {
    const bytes = files.get(name);
    return bytes && parseTerraformPlan(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  };
  const planned = read(captured.plan);
  if (!planned) throw new Error(`the output of terraform show is missing (${captured.plan})`);
  const [lock, modules] = await Promise.all([tree.text(lockFile), tree.text('.terraform/modules/modules.json')]);
  const reading = commonPlan(planned, read(captured.refresh));
  return {
    ...reading,
    plan: withoutLongTexts(maskJson(reading.plan, job.secrets)),
    providerVersions: providersOf(planned, lock),
    moduleVersions: installedModules(modules),
  };
}

export const terraform: Driver = {
  type: 'terraform',
  programs: [program],
  version: { args: ['version', '-json'], read: (output) => (JSON.parse(output) as { terraform_version: string }).terraform_version },
  refusals,
  warnings,
  isStateOurs: async ({ job, tree }) => job.state.isForced || isOurs(await readCodeBackend(tree)),
  files,
  environment,
  prepare,
  plan,
  apply,
  lockFile,
  stateFile: ({ job }) => stateFileName(job.workspaceName),
  checkPrepared: async ({ tree, configurationFolder, stateFolder }) =>
    stateFolder === null ? null : stateOverrideProblem(tree, configurationFolder, stateFolder),
  readPlan,
  readState: readTerraformState,
  progress: terraformProgress,
  lastDiagnostic: lastTerraformDiagnostic,
};
