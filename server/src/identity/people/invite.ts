/** Invitations: made, renewed, revoked and shown. */
import type { FastifyRequest } from 'fastify';
import type { GrantedPermissions, Invitation } from '#contract/people/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { baseUrlOf } from '../../framework/http/callers/base-url.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, orNotFound, Refusal } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import { getMembership, insertMembership } from '../../rows/organizations/membership-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import {
  getInvitation,
  type InvitationRow,
  insertInvitation,
  listInvitationRows,
  lockInvitation,
  revokeInvitationsOf,
  updateInvitation,
} from '../../rows/people/invitation-store.ts';
import { insertPerson } from '../../rows/users/person-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { checkPermissions, grantProjectRoles } from '../roles/grant-permissions.ts';
import { leaveOrganization } from './leave-organization.ts';
import { requireRightsOfPerson } from './rights-of-person.ts';

const day = 86_400_000;

/** The link that is passed on. What follows # is in no log of any server or proxy. */
function linkOf(context: ActorContext, request: FastifyRequest, id: string, secret: string): string {
  return `${baseUrlOf(context.settings, request)}/invitation#${id}.${secret}`;
}

function expiryOf({ settings, now }: ActorContext): Date {
  return new Date(now().getTime() + settings.invitationDays * day);
}

async function views(context: ActorContext, rows: readonly InvitationRow[]): Promise<Invitation[]> {
  const users = await creatorsOf(context.db, rows);
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    email: row.email,
    userId: row.user_id,
    permissions: row.permissions,
    status: row.accepted_at ? 'Accepted' : row.expires_at <= context.now() ? 'Expired' : 'Pending',
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    createdBy: row.created_by,
    createdByUser: userOf(users, row.created_by),
  }));
}

async function view(context: ActorContext, row: InvitationRow, link: string): Promise<Invitation> {
  const [shown] = await views(context, [row]);
  return { ...(shown as Invitation), link };
}

/** The invitations of an organization. */
export async function listInvitations(context: ActorContext, organizationId: string): Promise<Invitation[]> {
  return views(context, await listInvitationRows(context.db, organizationId));
}

/**
 * Invites a person, with or without an account.
 * @throws Refusal 400 and 403 as `checkPermissions` does, 409 where the person is a member or invited already
 */
export async function invite(
  context: ActorContext,
  request: FastifyRequest,
  invitation: {
    readonly email: string;
    readonly name?: string | undefined;
    readonly organizationId: string;
    readonly permissions?: GrantedPermissions | null | undefined;
  },
): Promise<Invitation> {
  const { email, organizationId } = invitation;
  const id = context.newId();
  const secret = newKeySecret();
  return inTransaction(context, async (context) => {
    // Roles do not change between the check and the commit.
    await lockOrganizationRow(context.db, organizationId);
    const permissions = await checkPermissions(
      context,
      organizationId,
      invitation.permissions,
      'body.permissions',
    );
    const person = await insertPerson(context.db, {
      id: context.newId(),
      email,
      name: invitation.name ?? email,
      createdBy: context.actor.userId,
      isEmailVerified: false,
    });
    const membership = await getMembership(context.db, organizationId, person.id);
    if (membership?.status === 'Active') throw conflict(`${email} is a member of the organization already`);
    if (membership?.status === 'Inactive')
      throw conflict(`${email} was deactivated by the identity provider: activate the person there`);
    const row = await insertInvitation(context.db, {
      id,
      organization_id: organizationId,
      user_id: person.id,
      email,
      permissions: JSON.stringify(permissions),
      secret_hmac: context.keyHash.hash(secret),
      created_by: context.actor.userId,
      created_at: context.now(),
      expires_at: expiryOf(context),
    });
    if (!row) throw conflict(`${email} has been invited already: renew or revoke that invitation`);
    await insertMembership(context.db, {
      organization_id: organizationId,
      user_id: person.id,
      role: permissions.organizationRole,
      status: 'Invited',
      source: null,
    });
    await grantProjectRoles(context, organizationId, person.id, permissions);
    await audit(context, 'created', row);
    return view(context, row, linkOf(context, request, id, secret));
  });
}

function audit(context: ActorContext, action: string, row: InvitationRow): Promise<void> {
  return recordAudit(context, {
    organizationId: row.organization_id,
    action: `invitation.${action}`,
    entityId: row.id,
    details: { userId: row.user_id, permissions: row.permissions },
  });
}

/** @throws Refusal 410 where it was accepted or revoked */
function requireOpen(row: InvitationRow): void {
  if (row.accepted_at) throw new Refusal('gone', 'This invitation was accepted already');
  if (row.revoked_at) throw new Refusal('gone', 'This invitation was revoked');
}

/**
 * An invitation that is open, of a person whose rights are locked until the transaction ends.
 * @throws Refusal 404, or 410 as `requireOpen` does
 */
async function lockOpen(tx: Connection, id: string): Promise<InvitationRow> {
  const found = await getInvitation(tx, id);
  // The organization first, as everything that removes members does.
  if (found) await lockOrganizationRow(tx, found.organization_id);
  const row = orNotFound(await lockInvitation(tx, id), 'invitation', id);
  requireOpen(row);
  return row;
}

/**
 * Replaces the link of an invitation: the one before is no longer accepted.
 * @throws Refusal 410 where it was accepted or revoked, 403 as `requireRightsOfPerson` does
 */
export async function renewInvitation(
  context: ActorContext,
  request: FastifyRequest,
  id: string,
): Promise<Invitation> {
  const secret = newKeySecret();
  return inTransaction(context, async (context) => {
    const row = await lockOpen(context.db, id);
    await requireRightsOfPerson(context, row.organization_id, row.user_id, 'A new link of this invitation');
    const renewed = await updateInvitation(context.db, id, {
      secret_hmac: context.keyHash.hash(secret),
      expires_at: expiryOf(context),
    });
    await audit(context, 'renewed', renewed);
    return view(context, renewed, linkOf(context, request, id, secret));
  });
}

/**
 * Revokes an invitation; the person is no longer listed as invited.
 * @throws Refusal 410 where it was accepted or revoked, 403 as `requireRightsOfPerson` does
 */
export async function revokeInvitation(context: ActorContext, id: string): Promise<void> {
  await inTransaction(context, async (context) => {
    const row = await lockOpen(context.db, id);
    await requireRightsOfPerson(context, row.organization_id, row.user_id, 'Revoking this invitation');
    await revokeInvitationsOf(context.db, row.user_id, context.now(), row.organization_id);
    await leaveOrganization(context, row.organization_id, row.user_id);
    await audit(context, 'revoked', row);
  });
}

/**
 * The invitation of a link.
 * @param token the part after #
 * @throws Refusal 404 for one that does not exist or was replaced, 410 for one that expired, was used or revoked
 */
export async function invitationOf(context: ActorContext, token: string): Promise<InvitationRow> {
  const [id = '', secret = ''] = token.split('.');
  const row = /^[0-9a-f-]{36}$/.test(id) ? await getInvitation(context.db, id) : undefined;
  if (!context.keyHash.matches(secret, row?.secret_hmac ?? null) || !row)
    throw new Refusal(
      'not_found',
      'No invitation has this token: use the whole link, and the newest one you received',
    );
  requireOpen(row);
  if (row.expires_at <= context.now())
    throw new Refusal('gone', 'This invitation has expired: ask for a new one');
  return row;
}
