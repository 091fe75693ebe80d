/** The plan phase: the preparation, the plan, and the input of its apply, which is packed while the tool prints the plan. */
import type { ApprovedParts } from '#protocol/messages/job.ts';
import { planOnlyTypes, variablesStep as setupStep } from '#protocol/tools/steps.ts';
import { patternsOf } from '../../logs/mask.ts';
import type { OutcomeFacts } from '../../processes/failure.ts';
import type { Captures } from '../commands/command-files.ts';
import { runCommands } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import { asRunFailure, type Configuration } from '../configuration/configuration.ts';
import { logImports } from '../configuration/import-resources.ts';
import { estimateCosts } from '../costs/estimate-costs.ts';
import { writePolicyInput } from '../policies/policy-input.ts';
import { keepForApply, settlePlan } from './keep-for-apply.ts';
import type { PhaseEnd } from './phase-end.ts';
import { planInWords } from './plan-in-words.ts';
import { type PreparedConfiguration, prepareConfiguration } from './prepare-configuration.ts';
import { watchValueFiles } from './value-files.ts';

/** @throws RunFailure if a step fails */
export async function planPhase(attempt: RunnerAttempt): Promise<PhaseEnd> {
  const prepared = await prepareConfiguration(attempt);
  const captures = await plan(attempt, prepared);
  const { plan: planned, approvedParts } = attempt.facts.all;
  const costs = await estimateCosts(attempt, prepared.configuration, captures);
  await writePolicyInput(attempt, prepared.configuration, captures, planned);
  attempt.facts.add(costs);
  return { result: 'planned', settle: () => settlePlan(attempt, prepared.configuration, approvedParts) };
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
