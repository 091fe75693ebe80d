/** The variable that goes before every other word about approval, and who may set it. */
import type { VariableChange } from '#contract/variable.ts';
import type { JobVariable } from '#protocol/messages.ts';
import type { Actor } from '../access/actor.ts';
import { requireRight } from '../access/check-right.ts';

const variableName = 'ENVARIUM_REQUIRES_APPROVAL';

/** What the variable says; null: nothing. Pure. */
export function approvalByVariable(environment: readonly JobVariable[]): boolean | null {
  const value = environment.find((each) => each.name === variableName)?.value;
  return value === 'true' ? true : value === 'false' ? false : null;
}

/**
 * Going on without asking anybody is what the right to apply allows, by whatever means it is said.
 * @param field where the changes stand in the request
 * @throws Refusal 403 for a caller without that right who sets the variable to anything but `true`, or takes it away
 */
export function checkApprovalVariable(actor: Actor, organizationId: string, changes: readonly VariableChange[], field: string): void {
  const index = changes.findIndex(
    (change) => change.name === variableName && (change.type ?? 0) === 0 && (change.toDelete === true || change.value !== 'true'),
  );
  if (index >= 0) requireRight(actor, organizationId, 'RUN_APPLY', `/${field.replaceAll('.', '/')}/${index} (${variableName})`);
}
