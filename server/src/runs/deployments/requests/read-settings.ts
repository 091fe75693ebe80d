/** Changes of a deploy request to the environment's own settings: its name, lifetime, and whether plans wait. */

import type { ActorContext } from '../../../framework/context.ts';
import { inEnvironment } from '../../../rows/places.ts';
import { ttlColumns } from '../../../tenancy/lifetimes/lifespan.ts';
import { lifterColumns } from '../../../tenancy/project-policies/lift-approval.ts';
import type { RequestedSettings } from '../inputs/run-inputs.ts';
import type { SettingsChange, StoredFacts } from '../inputs/start-facts.ts';

/**
 * @param from `proposedBy`: id of the user who proposed it, if the caller approves it; `approvalField`: location of the
 * field about approvals in the request
 * @returns undefined where the request says nothing about them
 * @throws Refusal 400 that names the field, 403 where the caller may not switch approvals off
 */
export async function readSettings(
  context: ActorContext,
  { environment, policy, demands }: StoredFacts,
  { envName, ttl, userRequiresApproval }: RequestedSettings,
  {
    proposedBy,
    approvalField = '/body/userRequiresApproval',
  }: { proposedBy?: string; approvalField?: string } = {},
): Promise<SettingsChange | undefined> {
  const requested = {
    ...(envName === undefined ? {} : { envName }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(userRequiresApproval === undefined ? {} : { userRequiresApproval }),
  };
  if (Object.keys(requested).length === 0) return undefined;
  const home = {
    place: inEnvironment(environment),
    createdAt: environment.created_at,
    policy,
    ...(proposedBy === undefined ? {} : { setBy: proposedBy }),
  };
  const columns = {
    ...(envName === undefined ? {} : { name: envName }),
    ...(userRequiresApproval === undefined ? {} : { requires_approval: userRequiresApproval }),
    ...lifterColumns(context, environment, userRequiresApproval, demands, approvalField),
    ...(ttl === undefined ? {} : await ttlColumns(context, ttl, home, 'body.ttl')),
  };
  return { requested, columns };
}
