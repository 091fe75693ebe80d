/** The variable that takes precedence over all other approval settings, and who may set it. */
import type { JobVariable } from '#protocol/messages/job.ts';
import type { Place } from '../access/access.ts';
import type { Actor } from '../access/actor.ts';
import { requireRight } from '../access/check-right.ts';
import { badField } from '../http/errors.ts';

export const approvalVariableName = 'ENVARIUM_REQUIRES_APPROVAL';

/** The value of the variable; null: not set. Pure. */
export function approvalByVariable(environment: readonly JobVariable[]): boolean | null {
  const value = environment.find((each) => each.name === approvalVariableName)?.value;
  return value === 'true' ? true : value === 'false' ? false : null;
}

/**
 * Continuing without approval requires the right to apply, whichever way it is requested.
 * @param values what is to be stored; with value null, what is removed
 * @param field location of the change in the request
 * @throws Refusal 403 for a caller without that right who sets the variable to anything but `true`, or takes
 * it away
 */
export function guardApprovalVariable(
  actor: Actor,
  place: Place,
  values: { readonly name: string; readonly type: number; readonly value: string | null },
  field: string,
): void {
  if (values.name !== approvalVariableName || values.type !== 0 || values.value === 'true') return;
  requireRight(actor, place, 'RUN_APPLY', badField(field, `(${approvalVariableName})`).message);
}
