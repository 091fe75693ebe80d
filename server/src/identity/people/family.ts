/** People in organizations: invitations, removal, and the end of an account. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { getOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { invitationHome } from '../../rows/people/invitation-store.ts';
import { acceptInvitation, hasAccount, joinOrganization } from './accept-invitation.ts';
import { closeAccount } from './close-account.ts';
import { createAdmin } from './create-admin.ts';
import { invitationOf, invite, listInvitations, renewInvitation, revokeInvitation } from './invite.ts';
import { removeMember } from './leave-organization.ts';
import { createLink } from './one-time-link.ts';
import { resetPassword } from './reset-password.ts';
import { signInByLink } from './sign-in-link.ts';

const peopleRoutes: Route[] = [
  route(operations.createInvitation, (context, { body }, { request }) => invite(context, request, body)),
  route(operations.listInvitations, (context, { query }) => listInvitations(context, query.organizationId)),
  route(operations.resendInvitation, (context, { params }, { request }) =>
    renewInvitation(context, request, params.id),
  ),
  route(operations.deleteInvitation, async (context, { params }) => {
    await revokeInvitation(context, params.id);
    return { id: params.id };
  }),
  route(operations.previewInvitation, async (context, { body }) => {
    const row = await invitationOf(context, body.token);
    const organization = await getOrganizationRow(context.db, row.organization_id);
    return {
      email: row.email,
      organizationName: organization?.name ?? '',
      expiresAt: row.expires_at.toISOString(),
      hasAccount: await hasAccount(context, row.user_id),
    };
  }),
  route(operations.acceptInvitation, (context, { body }, wire) => acceptInvitation(context, wire, body)),
  route(operations.joinOrganization, (context, { body }) => joinOrganization(context, body.token)),
  route(operations.createAdmin, (context, { body }, { request }) => createAdmin(context, request, body)),
  route(operations.createPasswordReset, (context, { params }, { request }) =>
    createLink(context, request, 'password_reset', params.id),
  ),
  route(operations.resetPassword, (context, { body }, wire) => resetPassword(context, wire, body)),
  route(operations.createSignInLink, (context, { params }, { request }) =>
    createLink(context, request, 'sign_in_link', params.id),
  ),
  route(operations.signInByLink, (context, { body }, wire) => signInByLink(context, wire, body.token)),
  route(operations.removeMember, async (context, { params }) => {
    await removeMember(context, params.id, params.userId);
    return { id: params.userId };
  }),
  route(operations.deleteCurrentUser, (context) => closeAccount(context, context.actor.userId)),
  route(operations.deleteUser, (context, { params }) => closeAccount(context, params.id)),
];

export const family: Family = {
  name: 'people',
  routes: peopleRoutes,
  entities: { invitation: invitationHome },
  tables: ['invitation', 'password_reset', 'sign_in_link'],
};
