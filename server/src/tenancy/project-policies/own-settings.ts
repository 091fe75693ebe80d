/** Settings of a policy beyond the interface: a request that does not know one of them leaves it as it is. */
import type { UpdatePolicyBody } from '#contract/project-policies/operations.ts';
import type { Policy } from '#contract/project-policies/shapes.ts';
import { withoutNulls } from '#contract/schema/without-nulls.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { PolicyRow } from '../../rows/project-policies/policy-store.ts';

/** As replies show them. @param row undefined: the policy was never changed */
export function ownSettingsOf(row: PolicyRow | undefined): Pick<Policy, 'selfApprovalForbidden'> {
  return withoutNulls({ selfApprovalForbidden: row?.self_approval_forbidden });
}

/** Changes that an update stores. A request that repeats what is stored does not set it. */
export function ownColumns(
  { actor }: Pick<ActorContext, 'actor'>,
  { selfApprovalForbidden: wanted }: Pick<UpdatePolicyBody, 'selfApprovalForbidden'>,
  before: PolicyRow | undefined,
): Pick<PolicyRow, 'self_approval_forbidden' | 'self_approval_set_by'> {
  const [value, setBy] = [before?.self_approval_forbidden ?? null, before?.self_approval_set_by ?? null];
  if (wanted === undefined || wanted === value)
    return { self_approval_forbidden: value, self_approval_set_by: setBy };
  return { self_approval_forbidden: wanted, self_approval_set_by: actor.userId };
}
