/** The commands of the terraform family, phase by phase. */
import { dirname, join } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { plannedValues } from '#protocol/tools/applied-values.ts';
import { type RunVariables, readRunVariables } from '#protocol/tools/inputs/run-variables.ts';
import { joinArguments, splitArguments } from '#protocol/tools/inputs/terraform-arguments.ts';
import type { ToolFacts } from '#protocol/tools/tool.ts';
import type { Command, Note } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { readCodeBackend } from './backend.ts';
import type { FileRules } from './code/files.ts';

/** The differences between the tools of the family. */
export interface Flavor {
  readonly facts: ToolFacts;
  readonly fileRules: FileRules;
  /** An apply can write its events to a file in addition to its log. */
  readonly writesEvents: boolean;
  /** Variables may occur where code is loaded, so that other commands than `plan` need them too. */
  readonly readsVariablesEarly: boolean;
  /** The first version whose `init` evaluates sources of modules. */
  readonly evaluatesSourcesFrom: string;
  /** The first version that reads `import` blocks. */
  readonly importsFrom: string;
  /** Providers must be signed by their publisher. */
  readonly needsSignature: boolean;
}

/** The names of the family's two preparing steps. */
export function prepareSteps({ steps }: ToolFacts): { init: string; workspace: string } {
  const [init = '', workspace = ''] = steps.prepare;
  return { init, workspace };
}

/** Names under which the runner returns captured outputs. */
export const captured = { plan: 'plan.json', refresh: 'refresh.json', state: 'state.json' } as const;

export function runVariablesOf(job: Job): RunVariables {
  return readRunVariables(runEnvironment(job));
}

/** The workspace of a run whose state the service stores. */
export function workspaceOf(job: Job): string {
  return runVariablesOf(job).skipsWorkspace ? 'default' : job.workspaceName;
}

/**
 * Adds arguments in the variable that the tool reads, after those that the user has set: other users of the
 * machine can list arguments, but not the environment.
 */
export function added(
  job: Job,
  verb: string,
  words: readonly string[],
  drop: readonly string[] = [],
): Pick<Command, 'environment'> {
  const name = `TF_CLI_ARGS_${verb}`;
  const own = runEnvironment(job)[name] ?? '';
  if (words.length === 0 && drop.length === 0) return {};
  const kept = splitArguments(own).filter(
    (word) => !drop.includes(word.replace(/^--/, '-').split('=', 1)[0] ?? ''),
  );
  return { environment: { [name]: joinArguments([...kept, ...words]) } };
}

function variableFiles({ job }: DriverContext): string[] {
  return runVariablesOf(job).variableFiles.map((file) => `-var-file=${file}`);
}

/** Arguments that set variables for commands before the plan, if the tool needs them. */
export function early(flavor: Flavor, context: DriverContext): string[] {
  return flavor.readsVariablesEarly ? variableFiles(context) : [];
}

/** OpenTofu also uses variables in an apply, and compares them with those of the plan. */
function appliedArguments(flavor: Flavor, { job }: DriverContext): string[] {
  const { applyArguments } = runVariablesOf(job);
  // The last ones take precedence.
  return flavor.readsVariablesEarly
    ? [...applyArguments, ...plannedValues(runEnvironment(job))]
    : [...applyArguments];
}

export function initCommand(flavor: Flavor, context: DriverContext): Command {
  const { job, stateFolder } = context;
  const backendConfig =
    stateFolder === null ? runVariablesOf(job).backendConfig.map((entry) => `-backend-config=${entry}`) : [];
  // The approved lock file determines the versions; they must not be chosen again.
  const isApply = job.phase === 'apply';
  return {
    step: prepareSteps(flavor.facts).init,
    program: flavor.facts.program.name,
    label: `${flavor.facts.program.name} init`,
    args: ['init', '-input=false', ...(isApply ? ['-lockfile=readonly'] : [])],
    installsProviders: true,
    loadsModules: true,
    ...added(job, 'init', [...early(flavor, context), ...backendConfig], isApply ? ['-upgrade'] : []),
  };
}

async function selectWorkspace(
  flavor: Flavor,
  { job, stateFolder, tree }: DriverContext,
): Promise<Command | Note> {
  const { facts, fileRules } = flavor;
  const program = facts.program.name;
  const step = prepareSteps(facts).workspace;
  // The state is ours, and TF_WORKSPACE names it in every command.
  if (stateFolder !== null) return { step, note: workspaceOf(job) };
  // With TF_WORKSPACE set, `select` fails, and some backends have no workspaces.
  const isFixed =
    runVariablesOf(job).skipsWorkspace || !(await readCodeBackend(tree, fileRules)).hasWorkspaces;
  if (isFixed) return { step, program, label: `${program} workspace show`, args: ['workspace', 'show'] };
  return {
    step,
    program,
    label: `${program} workspace select`,
    args: ['workspace', 'select', '-or-create', '--', job.workspaceName],
  };
}

export async function prepareCommands(flavor: Flavor, context: DriverContext): Promise<(Command | Note)[]> {
  return [initCommand(flavor, context), await selectWorkspace(flavor, context)];
}

/**
 * A deployment's own targets take precedence over the environment's. A destroy of some resources only must be
 * requested each time.
 */
export function targetsOf({ job }: DriverContext): readonly string[] {
  if (job.targets.length > 0 || job.type === 'destroy') return job.targets;
  return runVariablesOf(job).targets;
}

const refreshOnly = '-refresh-only';

/** A planning command and the command that shows its plan. */
function planPair(
  flavor: Flavor,
  context: DriverContext,
  what: { name: string; flags: readonly string[]; file: string; captureTo: string },
): Command[] {
  const { job } = context;
  const program = flavor.facts.program.name;
  const step = flavor.facts.steps.plan;
  // These types run alongside deployments of the same environment and must not wait for their lock.
  const lock = job.type === 'prPlan' || job.type === 'remotePlan' ? ['-lock=false'] : [];
  const skipsRefresh = job.skipStateRefresh && what.name !== refreshOnly;
  const request = { targets: targetsOf(context), skipsRefresh };
  const suffix = what.name === '' ? '' : ` ${what.name}`;
  const planning: Command = {
    step,
    program,
    label: `${program} plan${suffix}`,
    args: [
      'plan',
      '-input=false',
      '-detailed-exitcode',
      ...lock,
      ...flavor.facts.planArguments(request),
      ...what.flags,
      `-out=${what.file}`,
    ],
    savesPlan: what.file,
    goodExitCodes: [2],
    ...added(job, 'plan', [...variableFiles(context), ...runVariablesOf(job).planArguments]),
  };
  const shown = what.captureTo === captured.plan ? '' : ` (${what.name.replace(/^-/, '')})`;
  return [
    planning,
    {
      step,
      program,
      label: `${program} show${shown}`,
      args: ['show', '-json', what.file],
      captureTo: what.captureTo,
    },
  ];
}

export function planCommands(flavor: Flavor, context: DriverContext): Command[] {
  const { job, planFile } = context;
  const isDestroy = job.type === 'destroy';
  const flags = isDestroy ? ['-destroy'] : [];
  const plan = planPair(flavor, context, {
    name: isDestroy ? '-destroy' : '',
    flags,
    file: planFile,
    captureTo: captured.plan,
  });
  if (job.type !== 'driftDetection') return plan;
  // Drift, planned separately from the changes of the code.
  const file = join(dirname(planFile), 'refresh-only.tfplan');
  return [
    ...planPair(flavor, context, {
      name: refreshOnly,
      flags: [refreshOnly],
      file,
      captureTo: captured.refresh,
    }),
    ...plan,
  ];
}

export function applyCommands(flavor: Flavor, context: DriverContext): Command[] {
  const { job, planFile, temporaryFolder, stateFolder } = context;
  const program = flavor.facts.program.name;
  const { steps } = flavor.facts;
  const isDestroy = job.type === 'destroy';
  const eventFile = flavor.writesEvents ? join(temporaryFolder, 'apply.events.jsonl') : undefined;
  const applying: Command = {
    step: isDestroy ? steps.destroy : steps.apply,
    program,
    label: `${program} apply${isDestroy ? ' (destroy)' : ''}`,
    args: [
      'apply',
      '-input=false',
      ...(eventFile === undefined ? [] : [`-json-into=${eventFile}`]),
      planFile,
    ],
    isChanging: true,
    ...(eventFile === undefined ? {} : { eventFile }),
    ...added(job, 'apply', appliedArguments(flavor, context)),
  };
  if (isDestroy) return [applying];
  // Outputs and resources are read from the state file if the service stores it unencrypted; otherwise the
  // tool shows them.
  const pulling: Command = {
    step: steps.outputs ?? '',
    program,
    label: `${program} state pull`,
    args: ['state', 'pull', ...early(flavor, context)],
    captureTo: captured.state,
  };
  return stateFolder === null ? [applying, pulling] : [applying, { ...pulling, isForEncryptedState: true }];
}

/**
 * Removes the workspace in the code's own backend after its resources. In the cloud there is no other one to
 * select.
 */
export async function afterDestroyCommands(flavor: Flavor, context: DriverContext): Promise<Command[]> {
  const { job, stateFolder, tree } = context;
  const { facts, fileRules } = flavor;
  const program = facts.program.name;
  if (stateFolder !== null || runVariablesOf(job).skipsWorkspace || job.workspaceName === 'default')
    return [];
  const backend = await readCodeBackend(tree, fileRules);
  if (!backend.hasWorkspaces || backend.kind === 'cloud' || backend.type === 'remote') return [];
  const command = (verb: string, name: string): Command => ({
    step: facts.steps.destroy,
    program,
    label: `${program} workspace ${verb}`,
    args: ['workspace', verb, '--', name],
  });
  return [command('select', 'default'), command('delete', job.workspaceName)];
}
