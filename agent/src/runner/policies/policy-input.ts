/** Writes what the service asks approval policies about: the plan, without anything that is secret. */
import { posix } from 'node:path';
import type { Plan } from '#contract/deployments/plan.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { commonPolicyPlan, mostPolicyInputBytes } from '#protocol/policy-plan.ts';
import type { PhaseCaptures } from '../../drivers/interface/command.ts';
import { planOf } from '../../drivers/terraform/family.ts';
import { policyPlan } from '../../drivers/terraform/policy-plan.ts';
import { maskJson } from '../../logs/mask.ts';
import { RunFailure } from '../../processes/failure.ts';
import { writeWhole } from '../../spool/write-file.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';

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
 * Writes the document if the job asks for it.
 * @param plan in its common form, for tools that have none of their own
 * @throws RunFailure where the data of the policies cannot be read
 */
export async function writePolicyInput(
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
      `The plan has more than ${mostPolicyInputBytes / 1e6} MB, which approval policies cannot be asked about: divide the configuration into several environments`,
    );
  writeWhole(attempt.spool.outputPolicyInput, text);
}
