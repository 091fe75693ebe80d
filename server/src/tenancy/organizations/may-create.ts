/** Users who may create organizations, as decided by the operator for the whole installation. */

import type { ActorContext } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import { inOrganization } from '../../rows/places.ts';
import { isOperator } from '../../rows/users/user-store.ts';

const refusals = {
  admins: 'only those with the role Admin in one, and the operator, may',
  operator: 'only the operator, who has the first key of the installation, may',
} as const;

/** Whether the setting ENVARIUM_ORGANIZATION_CREATORS lets the caller create organizations. */
export async function mayCreate({ db, actor, settings }: ActorContext): Promise<boolean> {
  const { organizationCreators: who } = settings;
  if (who === 'everyone') return true;
  const { access, userId } = actor;
  if (who === 'admins' && access.organizationIds.some((id) => access.roleIn(inOrganization(id)) === 'Admin'))
    return true;
  return isOperator(db, userId);
}

/** @throws Refusal 403 for callers whom the setting ENVARIUM_ORGANIZATION_CREATORS leaves out */
export async function checkMayCreate(context: ActorContext): Promise<void> {
  const { organizationCreators: who } = context.settings;
  if (who === 'everyone' || (await mayCreate(context))) return;
  throw new Refusal(
    'forbidden',
    `You may not create organizations: ${refusals[who]} (setting ENVARIUM_ORGANIZATION_CREATORS of the service)`,
  );
}
