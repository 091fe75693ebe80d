/** The common driver of terraform and OpenTofu: state format 4, plan format 1. */
import { realpath } from 'node:fs/promises';
import { isAbsolute, join, posix, relative, resolve } from 'node:path';
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { namedValueFiles } from '#protocol/tools/applied-values.ts';
import { runVariableNames, runVariableProblem } from '#protocol/tools/inputs/run-variables.ts';
import type { ToolFacts } from '#protocol/tools/tool.ts';
import { variableRefusal, workspaceNameRefusal } from '#protocol/tools/variable-refusals.ts';
import { maskJson } from '../../logs/mask.ts';
import type { PlanToEstimate } from '../interface/capabilities.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type {
  Driver,
  DriverContext,
  FileToWrite,
  PlanReading,
  StatelessContext,
} from '../interface/driver.ts';
import { withoutLongTexts } from '../interface/plan-values.ts';
import {
  isOurs,
  readCodeBackend,
  stateFileName,
  stateOverrideFiles,
  stateOverrideProblem,
} from './backend.ts';
import { ephemeralVariables, requireSameSetters } from './code/ephemeral-variables.ts';
import { endingOf, type FileRules, requireReadableNames } from './code/files.ts';
import { collector } from './collector.ts';
import {
  afterDestroyCommands,
  applyCommands,
  captured,
  type Flavor,
  planCommands,
  prepareCommands,
  runVariablesOf,
  workspaceOf,
} from './commands.ts';
import { terraformDiagnostics, terraformReason } from './diagnostics.ts';
import { terraformEvents } from './events.ts';
import { importsOf } from './imports.ts';
import { lockFileName } from './lock-file.ts';
import { otherWorkspaces } from './other-workspaces.ts';
import { ownBackend } from './own-backend.ts';
import { commonPlan } from './plan.ts';
import { parseTerraformPlan, type TerraformPlan } from './plan-json.ts';
import { terraformProgress } from './progress.ts';
import { requiredVersions } from './required-versions.ts';
import { beyondApproved } from './retry.ts';
import { reuseOf } from './reuse.ts';
import { readTerraformState } from './state.ts';
import { variablesFile } from './variables.ts';
import { installedModules, lockedProviders, modulesFileName } from './versions.ts';

const builtinProvider = 'terraform.io/builtin/terraform';

/** @param ofInput why a tool that reads inputs in another way refuses one of its variables; null: it accepts it */
export function familyRefusals(
  facts: ToolFacts,
  job: Job,
  ofInput: (variable: Job['variables']['terraform'][number]) => string | null = () => null,
): string[] {
  const environment = runEnvironment(job);
  const found = [workspaceNameRefusal(job.workspaceName)];
  for (const { name } of job.variables.environment)
    found.push(variableRefusal(0, name, environment[name] ?? '', [facts]));
  for (const variable of job.variables.terraform)
    found.push(variableRefusal(1, variable.name, variable.value, [facts]), ofInput(variable));
  const folder = normalizePath(job.source.path ?? '');
  for (const name of Object.values(runVariableNames))
    found.push(runVariableProblem(name, environment[name] ?? '', folder));
  found.push(facts.environmentRefusal?.(environment) ?? null);
  const problems = new Set(found.filter((text) => text !== null));
  if (problems.size === 0 && runVariablesOf(job).ignoresState) problems.add(ignoredStateRefusal(job) ?? '');
  return [...problems].filter((text) => text !== '');
}

function ignoredStateRefusal({ state }: Job): string | null {
  const name = runVariableNames.ignoresState;
  if (state.isForced)
    return `${name} contradicts the environment's isRemoteBackend, which has the service store the state: remove one of the two`;
  if (state.current === undefined) return null;
  return `${name}: the service stores a state of this environment, and the run would not know its resources; remove the variable, or use it in a new environment`;
}

async function warnings(rules: FileRules, context: StatelessContext): Promise<string[]> {
  const { tree } = context;
  const names = await tree.list('');
  const found: string[] = [];
  if (names.includes('terraform.tfstate')) {
    found.push(
      'The repository contains a terraform.tfstate, which is not used: the environment has its own state in the service.',
    );
  }
  return [...found, ...(await runVariableWarnings(rules, context))];
}

/** Warnings about run variables that have no effect or an unexpected one. */
async function runVariableWarnings(rules: FileRules, context: StatelessContext): Promise<string[]> {
  const { backendConfig, targets, ignoresState } = runVariablesOf(context.job);
  const found: string[] = [];
  if (backendConfig.length > 0 && (await isStateOurs(rules, context)))
    found.push(
      `${runVariableNames.backendConfig} is not used: the state of this environment is stored by the service, not by a backend of the code.`,
    );
  if (targets.length > 0 && context.job.type === 'destroy')
    found.push(`${runVariableNames.targets} is not used: a destroy uses only its own targets.`);
  if (ignoresState && isOurs(await readCodeBackend(context.tree, rules)))
    found.push(`${runVariableNames.ignoresState} is set: the state of this run is not stored.`);
  return found;
}

async function isStateOurs(rules: FileRules, { job, tree }: StatelessContext): Promise<boolean> {
  if (job.state.isForced) return true;
  return !runVariablesOf(job).ignoresState && isOurs(await readCodeBackend(tree, rules));
}

function environment({ job, stateFolder, cliConfigurationFile }: DriverContext): Record<string, string> {
  const own = runEnvironment(job);
  return {
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
    // A run may configure its own mirrors and credentials; a person's ~/.terraformrc is never used.
    TF_CLI_CONFIG_FILE: own['TF_CLI_CONFIG_FILE'] ?? cliConfigurationFile ?? '/dev/null',
    ...(stateFolder === null ? {} : { TF_WORKSPACE: workspaceOf(job) }),
  };
}

/**
 * Replaces the tool's own check, which our files in the folder would defeat: a wrong path must not plan to
 * destroy everything.
 */
function refuseEmptyFolder({ type, source }: Job, names: readonly string[], rules: FileRules): void {
  if (type === 'destroy' || names.some((name) => endingOf(name, rules) !== '')) return;
  const folder = source.path ? `path ${JSON.stringify(source.path)}` : 'the root';
  throw new Error(
    `No configuration files: ${folder} of ${source.repository} has no .tf file; set path to the folder that contains them`,
  );
}

async function files(rules: FileRules, { job, tree, configurationFolder, stateFolder }: DriverContext) {
  const names = await tree.list('');
  refuseEmptyFolder(job, names, rules);
  const variables = await variablesFile(job, names);
  const override =
    stateFolder === null ? [] : stateOverrideFiles(names, configurationFolder, stateFolder, rules);
  return [...override, ...(variables ? [variables] : [])];
}

export function providersOf(plan: TerraformPlan, lock: string | null): Record<string, string> {
  const usesBuiltin = (plan.resource_changes ?? []).some(
    (resource) => resource.provider_name === builtinProvider,
  );
  return { ...lockedProviders(lock), ...(usesBuiltin ? { [builtinProvider]: plan.terraform_version } : {}) };
}

export function planOf(bytes: Uint8Array): TerraformPlan {
  return parseTerraformPlan(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}

async function readPlan(
  { job, tree }: DriverContext,
  captures: ReadonlyMap<string, Uint8Array>,
): Promise<PlanReading> {
  const read = (name: string): TerraformPlan | undefined => {
    const bytes = captures.get(name);
    return bytes && planOf(bytes);
  };
  const planned = read(captured.plan);
  if (!planned) throw new Error(`the plan as JSON is missing (${captured.plan})`);
  const [lock, modules] = await Promise.all([tree.text(lockFileName), tree.text(modulesFileName)]);
  const reading = commonPlan(planned, read(captured.refresh));
  return {
    ...reading,
    plan: withoutLongTexts(maskJson(reading.plan, job.secrets)),
    providerVersions: providersOf(planned, lock),
    moduleVersions: installedModules(modules),
  };
}

/**
 * `state rm` and other commands write their backup there, wherever the state is, and fail without the folder.
 */
function taskFiles({ job, stateFolder }: DriverContext): FileToWrite[] {
  if (stateFolder === null) return [];
  return [{ name: join('terraform.tfstate.d', workspaceOf(job), '.made'), content: '', isSecret: false }];
}

function plansToEstimate(_context: DriverContext, captures: PhaseCaptures): PlanToEstimate[] {
  const json = captures.get(captured.plan);
  return json === undefined ? [] : [{ unit: null, json }];
}

/**
 * As the kernel finds a file: from the folder that the configuration's path leads to, which a link may have elsewhere in
 * the repository.
 * @returns the path from the configuration's folder; null for a file that is always empty
 * @throws an Error that names the file
 */
async function comparedFile(
  { job, configurationFolder }: DriverContext,
  path: string,
): Promise<string | null> {
  if (resolve(configurationFolder, path) === '/dev/null') return null;
  const refuse = (problem: string) => new Error(`-var-file=${path} ${problem}`);
  const inFolder = `${configurationFolder}/`;
  const name = path.startsWith(inFolder) ? `./${path.slice(inFolder.length)}` : path;
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.slice(0, segments.lastIndexOf('..') + 1).some((segment) => segment !== '..'))
    throw refuse('leads back out of a folder that may be a link: write the path without that folder');
  const up = posix.relative(`/${normalizePath(job.source.path ?? '')}`, '/');
  const root = resolve(configurationFolder, up);
  const [realRoot, folder] = await Promise.all([realpath(root), realpath(configurationFolder)]);
  const absolute = isAbsolute(name) ? join(realRoot, relative(root, name)) : resolve(folder, name);
  if (/^\.\.(\/|$)/.test(relative(realRoot, absolute)))
    throw refuse(
      'is outside of the repository: its values could be others in the apply than in the plan; put the file into the repository, or its values into variables',
    );
  return relative(folder, absolute);
}

/**
 * Files that are loaded automatically, and those that arguments name. Together with a saved plan, terraform uses nothing
 * of them but ephemeral variables. @throws an Error for files elsewhere
 */
async function valueFiles(
  { fileRules, readsVariablesEarly }: Flavor,
  context: DriverContext,
): Promise<string[]> {
  const { job, tree } = context;
  const environment = runEnvironment(job);
  if (!readsVariablesEarly) {
    const ephemeral = await ephemeralVariables(tree, fileRules);
    if (ephemeral.length === 0) return [];
    await requireSameSetters(ephemeral, environment, async (path) => {
      const file = await comparedFile(context, path);
      return file === null ? '' : ((await tree.text(file)) ?? '');
    });
  }
  const paths = namedValueFiles(environment);
  const named = await Promise.all(paths.map((path) => comparedFile(context, path)));
  const loaded = (await tree.list('')).filter((name) =>
    /^terraform\.tfvars(\.json)?$|\.auto\.tfvars(\.json)?$/.test(name),
  );
  requireReadableNames(loaded);
  return [...loaded, ...named.filter((name) => name !== null)];
}

/** The driver of one tool of the family. */
export function terraformFamily(flavor: Flavor): Driver {
  const { facts, fileRules } = flavor;
  return {
    type: facts.type,
    programs: [facts.program.name],
    requiredVersions: (tree) => requiredVersions(tree, fileRules),
    codeFiles: /\.(tf|tofu|tfvars|hcl)(\.json)?$/,
    refusals: (job) => familyRefusals(facts, job),
    warnings: (context) => warnings(fileRules, context),
    files: (context) => files(fileRules, context),
    environment,
    prepare: (context) => prepareCommands(flavor, context),
    plan: (context) => planCommands(flavor, context),
    readPlan,
    apply: (context) => applyCommands(flavor, context),
    afterDestroy: (context) => afterDestroyCommands(flavor, context),
    lockFile: lockFileName,
    installed: ['.terraform/providers'],
    reason: terraformReason,
    diagnostics: terraformDiagnostics,
    state: {
      isOurs: (context) => isStateOurs(fileRules, context),
      read: readTerraformState,
      file: {
        elsewhere: (context) => ownBackend(flavor, context),
        otherWorkspaces: (context) => otherWorkspaces(flavor, context),
        fileName: ({ job }) => stateFileName(workspaceOf(job)),
        rescueFile: 'errored.tfstate',
        taskFiles,
        checkPrepared: async ({ tree, configurationFolder, stateFolder }) =>
          stateFolder === null ? null : stateOverrideProblem(tree, configurationFolder, stateFolder),
      },
    },
    savedPlan: {
      replanned: {
        beyondApproved: (approved, replanned) => beyondApproved(planOf(approved), planOf(replanned)),
      },
      valueFiles: (context) => valueFiles(flavor, context),
      isTreeReady: true,
    },
    progress: {
      fromLog: terraformProgress,
      ...(flavor.writesEvents ? { fromFile: terraformEvents } : {}),
    },
    providers: {
      configurationVariable: 'TF_CLI_CONFIG_FILE',
      codeFiles: /\.(tf|tofu)$/,
      needsSignature: flavor.needsSignature,
    },
    imports: importsOf(flavor),
    costs: { plans: plansToEstimate },
    collector,
    reuse: reuseOf(flavor),
  };
}
