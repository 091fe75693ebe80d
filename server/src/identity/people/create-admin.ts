/** The operator makes the first administrators: no one else can, and no account has a default password. */
import type { FastifyRequest } from 'fastify';
import type { CreatedAdmin } from '#contract/people/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, Refusal, unknownEntity } from '../../ground/errors.ts';
import { insertMembership } from '../../rows/organizations/membership-store.ts';
import { storePasswordHash } from '../../rows/sign-in/password-store.ts';
import { findPersonByEmail, insertPerson } from '../../rows/users/person-store.ts';
import { isOperator } from '../../rows/users/user-store.ts';
import { checkNewPassword } from '../sign-in/check-password.ts';
import { hashPassword } from '../sign-in/hash-password.ts';
import { invite } from './invite.ts';

interface NewAdmin {
  readonly email: string;
  readonly name?: string | undefined;
  readonly password?: string | undefined;
  readonly organizationId?: string | undefined;
}

async function createWithPassword(
  context: ActorContext,
  organizationId: string,
  { email, name = email, password }: NewAdmin & { readonly password: string },
): Promise<CreatedAdmin> {
  checkNewPassword('body.password', password, email);
  const hash = await hashPassword(password);
  return inTransaction(context, async (context) => {
    if (await findPersonByEmail(context.db, email))
      throw conflict(`${email} has an account or an invitation: leave out the password to invite the person`);
    const { id: userId } = await insertPerson(context.db, {
      id: context.newId(),
      email,
      name,
      createdBy: context.actor.userId,
      isEmailVerified: false,
    });
    await storePasswordHash(context.db, context, userId, hash);
    await insertMembership(context.db, {
      organization_id: organizationId,
      user_id: userId,
      role: 'Admin',
      status: 'Active',
      source: null,
    });
    await recordAudit(context, {
      organizationId,
      action: 'user.created',
      entityId: userId,
      details: { role: 'Admin' },
    });
    return { userId, organizationId };
  });
}

/**
 * @throws Refusal 403 for callers other than the user of the first key, 400 for a weak password or another's
 * organization, 409 where a password is specified for a person who has an account
 */
export async function createAdmin(
  context: ActorContext,
  request: FastifyRequest,
  admin: NewAdmin,
): Promise<CreatedAdmin> {
  if (!(await isOperator(context.db, context.actor.userId)))
    throw new Refusal('forbidden', 'Administrators are created with the first key of the installation');
  const { organizationIds } = context.actor.access;
  const organizationId = admin.organizationId ?? organizationIds[0];
  if (organizationId === undefined || !organizationIds.includes(organizationId))
    throw unknownEntity('body.organizationId', 'organization');
  const { password } = admin;
  if (password !== undefined) return createWithPassword(context, organizationId, { ...admin, password });
  const permissions = { organizationRole: 'Admin' };
  const { email, name } = admin;
  const invitation = await invite(context, request, { email, name, organizationId, permissions });
  return { userId: invitation.userId, organizationId, invitation };
}
