/**
 * The plan phase: the preparation, the plan, the input of its apply, which is packed while the tool prints the plan,
 * and the input of approval policies: the plan without secrets.
 */
import { join, posix } from 'node:path';
import type { Plan } from '#contract/deployments/plan.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts } from '#protocol/messages/job.ts';
import { commonPolicyPlan, mostPolicyInputBytes } from '#protocol/policy-plan.ts';
import { planOnlyTypes, variablesStep as setupStep } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { PhaseCaptures } from '../../drivers/interface/command.ts';
import { planOf } from '../../drivers/terraform/family.ts';
import { policyPlan } from '../../drivers/terraform/policy-plan.ts';
import { maskJson, patternsOf } from '../../logs/mask.ts';
import { type OutcomeFacts, RunFailure } from '../../processes/failure.ts';
import { keepOwnWorkFolder, removeOwnWorkFolder } from '../../slots/work-folder-owner.ts';
import { writeWhole } from '../../spool/write-file.ts';
import { packForApply } from '../code/tree-archive.ts';
import type { Captures } from '../commands/command-files.ts';
import { runCommands } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  asRunFailure,
  type Configuration,
  logImports,
  readLockFileBytes,
} from '../configuration/configuration.ts';
import { estimateCosts } from '../costs/estimate-costs.ts';
import { plannedSecrets, watchValueFiles } from './approved-parts.ts';
import type { PhaseEnd } from './phase-end.ts';
import { planInWords } from './plan-in-words.ts';
import { type PreparedConfiguration, prepareConfiguration, writeCaptures } from './prepare-configuration.ts';

/** @throws RunFailure if a step fails */
export async function planPhase(attempt: RunnerAttempt): Promise<PhaseEnd> {
  const prepared = await prepareConfiguration(attempt);
  const captures = await plan(attempt, prepared);
  const { plan: planned, approvedParts } = attempt.facts.all;
  const costs = await estimateCosts(attempt, prepared.configuration, captures);
  await writePolicyInput(attempt, prepared.configuration, captures, planned);
  attempt.facts.add(costs);
  return {
    result: 'planned',
    endWorkFolder: () => endPlanFolder(attempt, prepared.configuration, approvedParts),
  };
}

/** From the first command of a plan until its tool has certainly been started. */
const toolStartMilliseconds = 20;

async function plan(attempt: RunnerAttempt, prepared: PreparedConfiguration): Promise<Captures> {
  const { configuration } = prepared;
  const mayBeApplied = !planOnlyTypes.includes(attempt.job.type);
  const commands = attempt.driver.plan(configuration.context);
  const step = commands.at(-1)?.step ?? setupStep;
  const compose = attempt.driver.savedPlan?.compose;
  const requireSameValues = mayBeApplied
    ? await watchValueFiles(attempt.driver, configuration.context)
    : null;
  const keep = (composed?: Uint8Array) => keepForApply(attempt, prepared, step, composed);
  let kept: Promise<ApprovedParts> | undefined;
  // While the tool plans, nothing else is to be done; afterwards, the plan would wait for it.
  const early = setTimeout(() => patternsOf(attempt.job.secrets), toolStartMilliseconds);
  try {
    return await runCommands(attempt, configuration, commands, {
      beforeLast: async () => logImports(attempt, step),
      onSettled: () => {
        if (mayBeApplied && compose === undefined) kept = keep();
        kept?.catch(() => undefined);
      },
      afterLast: async (captures) => {
        const planFacts = await readPlan(attempt, configuration, step, captures);
        const composed = mayBeApplied ? await compose?.(configuration.context, captures) : undefined;
        if (composed !== undefined) kept = keep(composed);
        attempt.facts.add(planFacts);
        await requireSameValues?.();
        const approvedParts = await kept;
        if (approvedParts !== undefined) attempt.facts.add({ approvedParts });
      },
    });
  } finally {
    clearTimeout(early);
    await Promise.allSettled([kept]);
  }
}

async function readPlan(
  attempt: RunnerAttempt,
  { context }: Configuration,
  step: string,
  captures: Captures,
): Promise<OutcomeFacts> {
  const { remarks = [], ...reading } = await asRunFailure(() => attempt.driver.readPlan(context, captures));
  for (const remark of remarks) attempt.steps.log(step, remark);
  if (attempt.driver.isPlanLogged === true) attempt.steps.log(step, planInWords(reading.plan));
  return reading;
}

/**
 * Packs the input of the apply.
 * @param composed the saved plan, if the driver composes it
 * @returns what a person approves
 */
async function keepForApply(
  attempt: AttemptContext,
  { configuration, commit }: PreparedConfiguration,
  step: string,
  composed?: Uint8Array,
): Promise<ApprovedParts> {
  const { tool } = configuration;
  const [lockFile, planFile] = await Promise.all([
    readLockFileBytes(attempt, configuration),
    packForApply(attempt, configuration, step, composed),
  ]);
  return {
    ...(planFile === undefined ? {} : { planFile }),
    commit,
    toolVersion: tool.version,
    lockFile: sha256(lockFile ?? ''),
    variables: variablesHash(attempt.job.variables),
    ...(tool.companions === undefined ? {} : { companions: tool.companions }),
    ...plannedSecrets(attempt.job, attempt.spool.outputPlan),
  };
}

/** Keeps the tree for the apply, or removes the work folder of a plan that none follows. */
function endPlanFolder(
  attempt: AttemptContext,
  configuration: Configuration,
  approvedParts: ApprovedParts | undefined,
): void {
  if (approvedParts === undefined) return removeOwnWorkFolder(attempt.folders, attempt.job);
  const facts = {
    isStateOurs: configuration.context.stateFolder !== null,
    toolVersion: approvedParts.toolVersion,
    secretFiles: configuration.written.secret.map((name) => join(attempt.path, name)),
    inspected: writeCaptures(configuration.context.inspected ?? new Map()),
  };
  keepOwnWorkFolder(attempt.folders, attempt.job, attempt.order.slotUid, facts);
}

const dataVariable = 'ENVARIUM_POLICY_DATA_PATH';
const mostDataBytes = 1_000_000;

/** The plans of several units as one: each change says which unit it is of. */
function planDocument(
  { driver }: RunnerAttempt,
  { context }: Configuration,
  captures: PhaseCaptures,
  plan: Plan | undefined,
): Record<string, unknown> {
  const plans = driver.costs?.plans(context, captures) ?? [];
  const [only] = plans;
  if (!only) return commonPolicyPlan(plan ?? { resourceChanges: [], outputChanges: [] });
  if (plans.length === 1 && only.unit === null) return policyPlan(planOf(only.json));
  const units = plans.map(({ unit, json }) => ({ unit: unit ?? '.', plan: policyPlan(planOf(json)) }));
  return {
    resource_changes: units.flatMap(({ unit, plan: { resource_changes: changes } }) =>
      (Array.isArray(changes) ? changes : []).map((change) => ({ ...(change as object), unit })),
    ),
    units: Object.fromEntries(units.map(({ unit, plan: document }) => [unit, document])),
  };
}

/** The data that the code keeps for its policies; undefined: none. @throws RunFailure where it cannot be read */
async function policyData({ job, tree }: RunnerAttempt, { context }: Configuration): Promise<unknown> {
  const path = job.variables.environment.find(({ name }) => name === dataVariable)?.value;
  if (!path) return undefined;
  const problem = (reason: string) =>
    new RunFailure(`Failed to load dynamic policy data: ${dataVariable} ${JSON.stringify(path)} ${reason}`);
  const relative = posix.normalize(path);
  if (posix.isAbsolute(relative) || relative.split('/')[0] === '..')
    throw problem('must be a path below the folder of the configuration');
  const bytes = await tree
    .read(context.configurationFolder, relative, mostDataBytes)
    .catch((error: Error) => Promise.reject(problem(error.message)));
  if (bytes === null) throw problem('does not exist');
  try {
    return parseExactly(new TextDecoder().decode(bytes));
  } catch (error) {
    throw problem(`has no valid JSON: ${(error as Error).message}`);
  }
}

/**
 * Writes the input of approval policies if the job asks for it.
 * @param plan in its common form, for tools that have none of their own
 * @throws RunFailure where the data of the policies cannot be read
 */
async function writePolicyInput(
  attempt: RunnerAttempt,
  configuration: Configuration,
  captures: PhaseCaptures,
  plan: Plan | undefined,
): Promise<void> {
  if (attempt.job.isPolicyInputWanted !== true) return;
  const data = await policyData(attempt, configuration);
  const document = planDocument(attempt, configuration, captures, plan);
  const input = { plan: document, ...(data === undefined ? {} : { policyData: data }) };
  const text = JSON.stringify(maskJson(input, attempt.job.secrets));
  if (Buffer.byteLength(text) > mostPolicyInputBytes)
    throw new RunFailure(
      `The plan has more than ${mostPolicyInputBytes / 1e6} MB, which is too much for approval policies: divide the configuration into several environments`,
    );
  writeWhole(attempt.spool.outputPolicyInput, text);
}
