/** The commands of the terraform family, phase by phase. */
import { dirname, join } from 'node:path';
import { runEnvironment } from '#protocol/run-environment.ts';
import type { Job } from '#protocol/messages/job.ts';
import { readRunVariables, type RunVariables } from '#protocol/tools/run-variables.ts';
import { joinArguments, splitArguments } from '#protocol/tools/terraform-arguments.ts';
import type { ToolFacts } from '#protocol/tools/tool.ts';
import type { Command, DriverContext } from '../driver.ts';
import { readCodeBackend } from './backend.ts';
import type { FileRules } from './files.ts';

/** What one tool of the family has of its own. */
export interface Flavor {
  readonly facts: ToolFacts;
  readonly fileRules: FileRules;
  /** An apply can write its events to a file, besides its log. */
  readonly writesEvents: boolean;
  /** Variables may stand where code is still being loaded, so that more commands than `plan` ask for them. */
  readonly readsVariablesEarly: boolean;
  /** Providers are accepted only with a signature of their publisher. */
  readonly needsSignature: boolean;
}

/** The family's two preparing steps by name. */
export function prepareSteps({ steps }: ToolFacts): { init: string; workspace: string } {
  const [init = '', workspace = ''] = steps.prepare;
  return { init, workspace };
}

/** Names under which the runner hands captured output back. */
export const captured = { plan: 'plan.json', refresh: 'refresh.json', state: 'state.json' } as const;

export function runVariablesOf(job: Job): RunVariables {
  return readRunVariables(runEnvironment(job));
}

/** The workspace that a run is in where its state is ours. */
export function workspaceOf(job: Job): string {
  return runVariablesOf(job).skipsWorkspace ? 'default' : job.workspaceName;
}

/**
 * Arguments that users add. They travel in the variable that the tool reads for itself, behind what the user
 * has put there: other users of a machine can list arguments, but not the environment.
 */
function added(
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

/** Arguments that give variables their values where the tool needs them before a plan. */
export function early(flavor: Flavor, context: DriverContext): string[] {
  return flavor.readsVariablesEarly ? variableFiles(context) : [];
}

/** The arguments among these that give variables their values. */
function valuesAmong(words: readonly string[]): string[] {
  const isValue = (word: string) => /^--?var(-file)?(=|$)/.test(word);
  return words.flatMap((word, index) => {
    if (!isValue(word)) return [];
    const next = words[index + 1];
    return word.includes('=') || next === undefined ? [word] : [word, next];
  });
}

/**
 * OpenTofu compares the variables that an apply is given with those of its plan, where it would find others
 * without being told.
 */
function plannedValues(flavor: Flavor, context: DriverContext): string[] {
  if (!flavor.readsVariablesEarly) return [];
  const own = splitArguments(runEnvironment(context.job)['TF_CLI_ARGS_plan'] ?? '');
  return [
    ...valuesAmong(own),
    ...variableFiles(context),
    ...valuesAmong(runVariablesOf(context.job).planArguments),
  ];
}

export function initCommand(flavor: Flavor, context: DriverContext): Command {
  const { job, stateFolder } = context;
  const backendConfig =
    stateFolder === null ? runVariablesOf(job).backendConfig.map((entry) => `-backend-config=${entry}`) : [];
  // What was approved with the lock file must be found again, not chosen again.
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

async function workspaceCommand(flavor: Flavor, { job, stateFolder, tree }: DriverContext): Promise<Command> {
  const { facts, fileRules } = flavor;
  const program = facts.program.name;
  const step = prepareSteps(facts).workspace;
  // With TF_WORKSPACE set `select` fails, and some backends know no workspaces.
  const isFixed =
    stateFolder !== null ||
    runVariablesOf(job).skipsWorkspace ||
    !(await readCodeBackend(tree, fileRules)).hasWorkspaces;
  if (isFixed) return { step, program, label: `${program} workspace show`, args: ['workspace', 'show'] };
  return {
    step,
    program,
    label: `${program} workspace select`,
    args: ['workspace', 'select', '-or-create', '--', job.workspaceName],
  };
}

export async function prepareCommands(flavor: Flavor, context: DriverContext): Promise<Command[]> {
  return [initCommand(flavor, context), await workspaceCommand(flavor, context)];
}

/**
 * A deployment's own targets win over the environment's. A destroy that leaves resources behind must be asked
 * for each time.
 */
function targetsOf({ job }: DriverContext): readonly string[] {
  if (job.targets.length > 0 || job.type === 'destroy') return job.targets;
  return runVariablesOf(job).targets;
}

const refreshOnly = '-refresh-only';

/** One planning command and the one that reads what it has planned. */
function planPair(
  flavor: Flavor,
  context: DriverContext,
  what: { name: string; flags: readonly string[]; file: string; captureTo: string },
): Command[] {
  const { job } = context;
  const program = flavor.facts.program.name;
  const step = flavor.facts.steps.plan;
  // These run alongside deployments of the same environment and must not wait for their lock.
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
  // What changed behind the code's back, read apart from what the code itself would change.
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
  const { job, planFile, stateFolder } = context;
  const program = flavor.facts.program.name;
  const { steps } = flavor.facts;
  const isDestroy = job.type === 'destroy';
  const eventFile = flavor.writesEvents ? `${planFile}.events.jsonl` : undefined;
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
    ...added(job, 'apply', [...plannedValues(flavor, context), ...runVariablesOf(job).applyArguments]),
  };
  if (isDestroy) return [applying];
  // Outputs and resources are read from the state file where it is ours and not encrypted; else the tool is
  // asked, once.
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
 * The workspace of the code's own backend goes with what it held. The cloud's have no other one to select
 * meanwhile.
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
