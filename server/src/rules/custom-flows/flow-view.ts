/** Custom flows and approval policies as the interface answers them. */
import type { ApprovalPolicy, CustomFlow } from '#contract/custom-flows/shapes.ts';
import { without } from '#contract/schema/without-nulls.ts';
import type { Template } from '#contract/templates/shapes.ts';

/** Fields of other templates only. */
const foreign = [
  'retry',
  'creationScope',
  'creationScopeId',
  'projectId',
  'projectIds',
  'isSingleUse',
] as const;

/** @throws Error for a template of another type */
function recordOf(template: Template, type: Template['type']): object {
  if (template.type !== type) throw new Error(`Template ${template.id} is ${template.type}, not ${type}`);
  return without(template, foreign);
}

export function flowOf(template: Template): CustomFlow {
  return recordOf(template, 'custom-flow') as CustomFlow;
}

export function policyOf(template: Template): ApprovalPolicy {
  return recordOf(template, 'approval-policy') as ApprovalPolicy;
}
