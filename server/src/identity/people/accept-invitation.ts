/** A person accepts an invitation. */
import type { SignedIn } from '#contract/sign-in/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Wire } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, Refusal } from '../../ground/errors.ts';
import { listMemberships, updateMembership } from '../../rows/organizations/membership-store.ts';
import {
  type InvitationRow,
  lockInvitation,
  openInvitationsOf,
  updateInvitation,
} from '../../rows/people/invitation-store.ts';
import { hasIdentity } from '../../rows/sign-in/identity-store.ts';
import { hasPassword, storePasswordHash } from '../../rows/sign-in/password-store.ts';
import { lockPerson, updatePerson } from '../../rows/users/person-store.ts';
import { checkNewPassword } from '../sign-in/check-password.ts';
import { hashPassword } from '../sign-in/hash-password.ts';
import { asPerson, startBrowserSession } from '../sign-in/start-session.ts';
import { invitationOf } from './invite.ts';

/**
 * Whether a person can sign in already, or is a member somewhere without an invitation. An identity provider has
 * provisioned such a member, and the link of another organization must not open the account.
 */
export async function hasAccount({ db }: Pick<ActorContext, 'db'>, userId: string): Promise<boolean> {
  if ((await hasPassword(db, userId)) || (await hasIdentity(db, userId))) return true;
  return (await listMemberships(db, userId)).some(({ status }) => status !== 'Invited');
}

/** In the transaction, and as the person, who becomes a member. */
async function accept(context: ActorContext, row: InvitationRow): Promise<void> {
  await updateInvitation(context.db, row.id, { accepted_at: context.now() });
  await updateMembership(context.db, row.organization_id, row.user_id, { status: 'Active' });
  await recordAudit(context, {
    organizationId: row.organization_id,
    action: 'invitation.accepted',
    entityId: row.id,
  });
}

/** The invitation, locked against other acceptances. @throws Refusal as `invitationOf` does */
async function lockInvitationOf(context: ActorContext, token: string): Promise<InvitationRow> {
  await lockInvitation(context.db, (await invitationOf(context, token)).id);
  return invitationOf(context, token);
}

/**
 * A person without an account sets name and password, and is signed in.
 * @throws Refusal 404 and 410 as `invitationOf` does, 400 for a weak password, 409 where there is an account
 */
export async function acceptInvitation(
  context: ActorContext,
  wire: Wire,
  { token, name, password }: { readonly token: string; readonly name: string; readonly password: string },
): Promise<SignedIn> {
  if (!context.settings.passwordSignIn)
    throw new Refusal('forbidden', 'This installation has no sign-in by password: use its identity provider');
  const { email, user_id: userId } = await invitationOf(context, token);
  checkNewPassword('body.password', password, email);
  if (await hasAccount(context, userId)) throw accountExists(email);
  const hash = await hashPassword(password);
  await inTransaction(context, async (context) => {
    const row = await lockInvitationOf(context, token);
    const person = await lockPerson(context.db, userId);
    if (!person || person.is_blocked) throw new Refusal('gone', 'The account of this invitation was closed');
    if (await hasAccount(context, userId)) throw accountExists(email);
    await storePasswordHash(context.db, context, userId, hash);
    await updatePerson(context.db, userId, { name, updated_at: context.now() });
    await accept(asPerson(context, { ...person, name }), row);
  });
  return startBrowserSession(context, wire, userId, 'invitation');
}

function accountExists(email: string): Refusal {
  return conflict(`${email} has an account: sign in, then join the organization (POST /api/invites/join)`);
}

/**
 * The caller, who is the invited person, becomes a member.
 * @throws Refusal 404 and 410 as `invitationOf` does, 403 for other callers
 */
export async function joinOrganization(
  context: ActorContext,
  token: string,
): Promise<{ organizationId: string }> {
  return inTransaction(context, async (context) => {
    const row = await lockInvitationOf(context, token);
    if (row.user_id !== context.actor.userId)
      throw new Refusal('forbidden', `This invitation is for ${row.email}: sign in as that person`);
    await accept(context, row);
    return { organizationId: row.organization_id };
  });
}

/**
 * Accepts the invitations of a person whose e-mail a provider has verified; expired ones remain.
 * @param context of the transaction, as the person
 */
export async function acceptAllOf(context: ActorContext, userId: string): Promise<void> {
  for (const { id } of await openInvitationsOf(context.db, userId)) {
    const row = await lockInvitation(context.db, id);
    const isOpen = row && !row.accepted_at && !row.revoked_at && row.expires_at > context.now();
    if (isOpen) await accept(context, row);
  }
}
