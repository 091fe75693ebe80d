/** The variable that goes before every other word about approval, and who may set it. */
import type { JobVariable } from '#protocol/messages/job.ts';
import type { Actor } from '../access/actor.ts';
import { requireRight } from '../access/check-right.ts';
import { badField } from '../http/errors.ts';

const variableName = 'ENVARIUM_REQUIRES_APPROVAL';

/** What the variable says; null: nothing. Pure. */
export function approvalByVariable(environment: readonly JobVariable[]): boolean | null {
  const value = environment.find((each) => each.name === variableName)?.value;
  return value === 'true' ? true : value === 'false' ? false : null;
}

/**
 * Going on without asking anybody is what the right to apply allows, by whatever means it is said.
 * @param values what is to be stored; with value null, what is taken away
 * @param field where the change stands in the request
 * @throws Refusal 403 for a caller without that right who sets the variable to anything but `true`, or takes
 * it away
 */
export function guardApprovalVariable(
  actor: Actor,
  organizationId: string,
  values: { readonly name: string; readonly type: number; readonly value: string | null },
  field: string,
): void {
  if (values.name !== variableName || values.type !== 0 || values.value === 'true') return;
  requireRight(actor, organizationId, 'RUN_APPLY', badField(field, `(${variableName})`).message);
}
