/** The driver of terragrunt, with terraform and with OpenTofu; tested with 1.1.3. */
import { unitModule } from '#contract/deployments/unit-names.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { runVariableNames } from '#protocol/tools/inputs/run-variables.ts';
import { terragrunt as facts } from '#protocol/tools/terragrunt.ts';
import { areUnitStates } from '#protocol/tools/terragrunt-state.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { Driver, DriverContext, StatelessContext, StateReading } from '../interface/driver.ts';
import { runVariablesOf } from '../terraform/commands.ts';
import { familyRefusals } from '../terraform/family.ts';
import { unitsWithBackend } from './backends.ts';
import { applyCommands, inspectCommands, planCommands, prepareCommands, pullCapture } from './commands.ts';
import { terragruntDiagnostics, terragruntReason } from './diagnostics.ts';
import { approvedPlans, plansToEstimate, readUnitPlans } from './plan.ts';
import { terragruntProgress } from './progress.ts';
import { requiredVersions } from './required-versions.ts';
import {
  allUnits,
  binaryName,
  isOutside,
  isRunAll,
  rulesOf,
  unitsInCycles,
  unitsOf,
  unitsSoFar,
} from './settings.ts';
import { readTerragruntState, rescueFile, singleStateName, unitFiles } from './state.ts';
import { elsewhereCapture, elsewhereOf, stateOverrides } from './unit-states.ts';
import { levelsOf } from './units.ts';
import { inputProblem, inputVariables } from './variables.ts';

function environment(context: DriverContext): Record<string, string> {
  const { job, cliConfigurationFile, programPaths } = context;
  const own = runEnvironment(job);
  const binary = binaryName(job);
  return {
    ...inputVariables(job),
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
    // A run may configure its own mirrors and credentials; a person's ~/.terraformrc is never used.
    TF_CLI_CONFIG_FILE: own['TF_CLI_CONFIG_FILE'] ?? cliConfigurationFile ?? '/dev/null',
    TG_NON_INTERACTIVE: 'true',
    TG_TF_PATH: programPaths?.[binary] || binary,
    TG_NO_TIPS: 'true',
    // An engine of the code would take the place of that program, and of the check ahead of it.
    TG_NO_ENGINE: 'true',
    // They are generated once, before anything is written into them.
    TG_NO_STACK_GENERATE: 'true',
    // The agent has its own cache.
    TG_NO_AUTO_PROVIDER_CACHE_DIR: 'true',
    ...(isRunAll(job) ? { TG_SUMMARY_PER_UNIT: 'true' } : { TG_TF_FORWARD_STDOUT: 'true' }),
  };
}

/** Replaces the tool's own answer, which is a success without any unit. */
function refuseNoUnits({ job }: StatelessContext, count: number): void {
  if (count > 0) return;
  const { repository, path } = job.source;
  const folder = path ? `path ${JSON.stringify(path)}` : 'the root';
  const all = isRunAll(job)
    ? `has no folder with a terragrunt.hcl that this run includes`
    : `has no terragrunt.hcl`;
  throw new Error(
    `No configuration files: ${folder} of ${repository} ${all}; set path, or terragruntWorkingDirectory, to the folder of the units`,
  );
}

async function findings(context: StatelessContext): Promise<PhaseCaptures> {
  const { job } = context;
  const units = allUnits(context);
  const cyclic = unitsInCycles(context);
  if (cyclic.length > 0)
    throw new Error(
      `Units depend on each other: ${cyclic.join(', ')}, or one of them on others of these. Remove a dependency from one of their terragrunt.hcl`,
    );
  refuseNoUnits(context, unitsOf(context).length);
  for (const { path, dependencies } of units)
    for (const other of [path, ...dependencies])
      if (isOutside(job, other))
        throw new Error(
          `Unit ${path}: ${other === path ? 'it' : `its dependency ${other}`} is outside of the repository, which a run cannot reach: use a unit of the repository`,
        );
  levelsOf(units);
  const elsewhere = await unitsWithBackend(context, units, rulesOf(job));
  return new Map([[elsewhereCapture, Buffer.from(JSON.stringify(elsewhere))]]);
}

/** @throws an Error if the service is to store states that backends of the code store */
async function isStateOurs(context: StatelessContext): Promise<boolean> {
  const { job } = context;
  const elsewhere = elsewhereOf(context) ?? [];
  if (job.state.isForced) {
    if (elsewhere.length === 0) return true;
    throw new Error(
      `isRemoteBackend has the service store the states, and units have a backend of their own: ${elsewhere.join(', ')}. Terragrunt reads outputs of other units from there: remove the remote_state blocks and backends, or set isRemoteBackend to false`,
    );
  }
  if (runVariablesOf(job).ignoresState) return false;
  return unitsOf(context).some(({ path }) => !elsewhere.includes(path));
}

async function warnings({ job }: StatelessContext): Promise<string[]> {
  const { targets } = runVariablesOf(job);
  return targets.length > 0 && job.type === 'destroy'
    ? [`${runVariableNames.targets} is not used: a destroy uses only its own targets.`]
    : [];
}

/** Content of the stored state, and the units whose own backend has their state. */
function stateAfter(
  context: DriverContext,
  captures: PhaseCaptures,
  stored: StateReading | null,
): StateReading | null {
  const pulled = unitsSoFar(context).flatMap(({ path }, index) => {
    const bytes = captures.get(pullCapture(index));
    return bytes === undefined || bytes.length === 0 ? [] : [{ path, reading: readTerragruntState(bytes) }];
  });
  if (pulled.length === 0) return stored;
  if (!isRunAll(context.job)) return pulled[0]?.reading ?? stored;
  return pulled.reduce<StateReading>(
    (all, { path, reading }) => ({
      ...all,
      outputs: {
        ...all.outputs,
        ...Object.fromEntries(
          Object.entries(reading.outputs).map(([name, output]) => [`${path}.${name}`, output]),
        ),
      },
      resources: [
        ...all.resources,
        ...reading.resources.map((row) => ({ ...row, moduleName: unitModule(path, row.moduleName) })),
      ],
      ids: [...all.ids, ...reading.ids],
      resourceCount: all.resourceCount + reading.resourceCount,
    }),
    stored ?? { serial: 0, lineage: '', outputs: {}, resources: [], ids: [], resourceCount: 0, hash: '' },
  );
}

/** Of the two forms of a state, each is for one setting of `isTerragruntRunAll`. */
function storedProblem(job: Job, stored: Uint8Array): string | null {
  if (areUnitStates(stored) === isRunAll(job)) return null;
  const [has, asks] = isRunAll(job)
    ? ['a single unit', 'all units']
    : ['all units of a run', 'a single unit'];
  return `The service stores the state of ${has} for this environment, and isTerragruntRunAll ${isRunAll(job)} asks for ${asks}: set it to ${!isRunAll(job)} again, or destroy the environment with that setting and clear its state first`;
}

export const terragrunt: Driver = {
  type: facts.type,
  programs: [facts.program.name, ...facts.companions.map(({ program }) => program.name)],
  requiredVersions: (_tree, about) => requiredVersions(about),
  codeFiles: /\.(tf|tofu|tfvars|hcl)(\.json)?$/,
  interrupts: 'twice',
  refusals: (job) => familyRefusals(facts, job, inputProblem),
  warnings,
  inspect: { commands: inspectCommands, findings },
  files: stateOverrides,
  environment,
  prepare: async (context) => prepareCommands(context),
  plan: planCommands,
  readPlan: readUnitPlans,
  apply: applyCommands,
  installedIn: (context) =>
    unitsOf(context)
      .map(({ path }) => (path === '.' ? '' : `${path}/`))
      .map((path) => `${path}.terragrunt-cache`),
  reason: terragruntReason,
  diagnostics: terragruntDiagnostics,
  state: {
    isOurs: isStateOurs,
    read: readTerragruntState,
    after: stateAfter,
    file: {
      elsewhere: async () => null,
      otherWorkspaces: async () => null,
      fileName: () => singleStateName,
      storedProblem,
      several: (context) =>
        isRunAll(context.job)
          ? unitFiles(
              context.job.environmentId,
              elsewhereOf(context),
              allUnits(context).map(({ path }) => path),
            )
          : null,
      rescueFile,
      taskFiles: () => [],
      checkPrepared: async () => null,
    },
  },
  savedPlan: { isFolder: true, compose: approvedPlans, isTreeReady: true },
  progress: { fromLog: terragruntProgress },
  costs: { plans: plansToEstimate },
  providers: { configurationVariable: 'TF_CLI_CONFIG_FILE', codeFiles: /\.(tf|tofu)$/, needsSignature: true },
};
