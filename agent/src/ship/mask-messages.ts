/**
 * Masks everything that is sent in addition to the log. Only free text is changed: a secret that equals a
 * status or the name of a field must not break the message.
 */
import type { CostBreakdown, CostEstimation, Plan } from '#contract/deployments/plan.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { maskJson, maskText, type SecretPatterns } from '../logs/mask.ts';

export function maskEvent(event: RunEvent, secrets: SecretPatterns): RunEvent {
  switch (event.kind) {
    case 'resource':
      return maskFields(event, ['address', 'name', 'moduleName', 'id'], secrets);
    case 'warning':
      return maskFields(event, ['text'], secrets);
    case 'git':
      return maskFields(event, ['branch'], secrets);
    case 'step':
    case 'process':
      return event;
  }
}

/** Values of sensitive outputs are unchanged: the server seals them. */
export function maskOutcome(outcome: Outcome, secrets: SecretPatterns): Outcome {
  const { error, diagnostics, plan, units, outputs, resources, unrecorded, costEstimation } = outcome;
  return {
    ...outcome,
    ...(error && { error: maskFields(error, ['message'], secrets) }),
    ...(diagnostics && { diagnostics: diagnostics.map((each) => maskFields(each, ['text'], secrets)) }),
    ...(plan && { plan: maskPlan(plan, secrets) }),
    ...(units && { units: units.map((each) => maskFields(each, ['reason'], secrets)) }),
    ...(outputs && { outputs: maskOutputs(outputs, secrets) }),
    ...(resources && { resources: resources.map((row) => maskFields(row, ['name', 'moduleName'], secrets)) }),
    ...(costEstimation && { costEstimation: maskCosts(costEstimation, secrets) }),
    ...(unrecorded && { unrecorded: unrecorded.map((row) => maskFields(row, ['address', 'id'], secrets)) }),
  };
}

/** Names of resources may contain anything that the code puts into their keys. */
function maskCosts(costs: CostEstimation, secrets: SecretPatterns): CostEstimation {
  const masked = (part: CostBreakdown | undefined) =>
    part?.resources === undefined
      ? part
      : { ...part, resources: part.resources.map((row) => maskFields(row, ['name'], secrets)) };
  return {
    ...costs,
    projects: costs.projects?.map((project) => ({
      ...maskFields(project, ['name'], secrets),
      breakdown: masked(project.breakdown),
      diff: masked(project.diff),
    })),
  };
}

function maskResourceChange(
  change: Plan['resourceChanges'][number],
  secrets: SecretPatterns,
): Plan['resourceChanges'][number] {
  return {
    ...maskFields(change, ['id', 'name', 'path', 'moduleName', 'previousAddress', 'importing'], secrets),
    attributes: change.attributes.map((attribute) =>
      maskFields(attribute, ['name', 'before', 'after'], secrets),
    ),
  };
}

function maskPlan(plan: Plan, secrets: SecretPatterns): Plan {
  const { resourceChanges, settled } = plan;
  return {
    resourceChanges: resourceChanges.map((change) => maskResourceChange(change, secrets)),
    ...(settled && { settled: settled.map((change) => maskResourceChange(change, secrets)) }),
    outputChanges: plan.outputChanges.map((change) => ({
      ...maskFields(change, ['moduleName', 'name'], secrets),
      attributes: change.attributes.map((attribute) =>
        maskFields(attribute, ['name', 'before', 'after'], secrets),
      ),
    })),
  };
}

function maskOutputs(
  outputs: NonNullable<Outcome['outputs']>,
  secrets: SecretPatterns,
): NonNullable<Outcome['outputs']> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]) => [
      maskText(name, secrets),
      output.sensitive ? output : maskFields(output, ['value'], secrets),
    ]),
  );
}

/** A copy with the named fields masked; absent fields stay absent. */
function maskFields<Value extends object>(
  value: Value,
  fields: readonly (keyof Value)[],
  secrets: SecretPatterns,
): Value {
  const masked = { ...value };
  for (const field of fields)
    if (masked[field] !== undefined) masked[field] = maskJson(masked[field], secrets);
  return masked;
}
