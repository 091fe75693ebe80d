/** The limits of a project: how many active environments it may have, and each user in it. */
import type { Access } from '../../framework/access/access.ts';
import { loadAccess } from '../../framework/access/load-access.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { conflict } from '../../ground/errors.ts';
import { countActive, type EnvironmentRow } from '../../rows/environments/environment-store.ts';
import { inProject, type Place } from '../../rows/places.ts';
import { lockPolicyRow } from '../../rows/project-policies/policy-store.ts';
import type { PolicySettings } from './policy-settings.ts';

type EnvironmentLimits = Pick<PolicySettings, 'numberOfEnvironments' | 'numberOfEnvironmentsTotal'>;

/** Whether the limit of each user does not hold for one with these rights. */
export function mayExceed(access: Access, place: Place): boolean {
  return access.has('OVERRIDE_MAX_ENVIRONMENT_PROJECT_LIMITS', place);
}

/** Whether one more environment would be one too many. */
export function isReached(limit: number | null, active: number): boolean {
  return limit !== null && active >= limit;
}

/** Whether the limit of a user does not hold for one of them: for who asks, or for whose environment it is. */
async function isExempt(
  { actor }: ActorContext,
  db: Connection,
  ownerId: string,
  place: Place,
): Promise<boolean> {
  if (mayExceed(actor.access, place)) return true;
  return ownerId !== actor.userId && mayExceed(await loadAccess(db, ownerId), place);
}

const activeText = (count: number) => `${count} active environment${count === 1 ? '' : 's'}`;

/**
 * Refuses an environment that is about to become active in a project and would be one too many. Two that become
 * active at once are counted one after the other: the second waits until the transaction of the first has ended.
 * @param environment inactive, new, or of another project
 * @param projectId where it becomes active
 * @throws Refusal 409 that names the limit
 */
export async function checkEnvironmentLimits(
  context: ActorContext,
  environment: Pick<EnvironmentRow, 'id' | 'organization_id' | 'user_id'>,
  projectId: string,
  { numberOfEnvironments: ofUser, numberOfEnvironmentsTotal: total }: EnvironmentLimits,
): Promise<void> {
  if (ofUser === null && total === null) return;
  const { db } = context;
  const { id: except, organization_id, user_id: userId } = environment;
  await lockPolicyRow(db, projectId);
  const active = await countActive(db, { projectId, userId, except });
  const remedy = 'destroy or archive one of them, or raise the limit';
  if (isReached(total, active.total))
    throw conflict(
      `The policy of the project allows ${activeText(total ?? 0)} (numberOfEnvironmentsTotal), and it has ${active.total}: ${remedy}`,
    );
  const place = inProject({ organization_id, id: projectId });
  if (isReached(ofUser, active.ofUser) && !(await isExempt(context, db, userId, place)))
    throw conflict(
      `The policy of the project allows each user ${activeText(ofUser ?? 0)} (numberOfEnvironments), and ${userId === context.actor.userId ? 'you have' : 'the owner of this one has'} ${active.ofUser}: ${remedy}`,
    );
}
