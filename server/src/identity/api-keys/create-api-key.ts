/** Makes a key of an organization: a user of its own, with its roles. */
import type { CreateApiKeyBody } from '#contract/api-keys/operations.ts';
import type { operations } from '#contract/operations.ts';
import type { ReplyOf } from '#contract/schema/operation.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { unknownEntity } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import { activeRolesOf, insertMembership } from '../../rows/organizations/membership-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { insertApiKey, insertKeyUser } from '../../rows/users/api-key-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { checkPermissions, grantProjectRoles } from '../roles/grant-permissions.ts';
import { apiKeyView } from './api-key-view.ts';
import { limitColumns } from './key-limits.ts';

type NewApiKey = ReplyOf<typeof operations.createApiKey>;

/** @throws Refusal 400 for an owner who is not a person of the organization */
export async function checkOwner(
  db: Connection,
  organizationId: string,
  ownerId: string | null | undefined,
): Promise<void> {
  if (ownerId === null || ownerId === undefined) return;
  const roles = await activeRolesOf(db, organizationId, [ownerId]);
  const owner = (await getUsers(db, [ownerId])).get(ownerId);
  if (!roles.has(ownerId) || !owner || owner.is_api_key || owner.is_blocked)
    throw unknownEntity('body.ownerId', 'member of the organization who is a person');
}

/**
 * The right was checked.
 * @throws Refusal 400 for a project, role or owner that does not exist, and for wrong limits; 403 for rights
 * that the caller does not have
 */
export async function createApiKey(context: ActorContext, body: CreateApiKeyBody): Promise<NewApiKey> {
  const { organizationId, name, description = '', ownerId = null } = body;
  const limits = limitColumns(context, body);
  return inTransaction(context, async (context) => {
    const { db, actor } = context;
    // Roles cannot be deleted, nor projects moved, between the check and the commit.
    await lockOrganizationRow(db, organizationId);
    const { organizationRole = 'Admin', projectsPermissions } = body.permissions ?? {};
    const permissions = { organizationRole, projectsPermissions: projectsPermissions ?? [] };
    await checkPermissions(context, organizationId, permissions, 'body.permissions');
    await checkOwner(db, organizationId, ownerId);
    const [userId, value] = [context.newId(), newKeySecret()];
    await insertKeyUser(db, { id: userId, name, createdBy: actor.userId });
    const now = context.now();
    const row = await insertApiKey(db, {
      id: userId,
      name,
      description,
      user_id: userId,
      organization_id: organizationId,
      owner_id: ownerId,
      created_by: actor.userId,
      created_at: now,
      secret_id: context.newId(),
      secret_hmac: context.keyHash.hash(value),
      secret_created_at: now,
      ...limits,
    });
    await insertMembership(db, {
      organization_id: organizationId,
      user_id: userId,
      role: organizationRole,
      status: 'Active',
      source: null,
    });
    await grantProjectRoles(context, organizationId, userId, permissions);
    await recordAudit(context, {
      organizationId,
      action: 'apiKey.created',
      entityId: row.id,
      details: {
        name,
        ...permissions,
        ownerId,
        expiresAt: row.expires_at?.toISOString() ?? null,
        networks: row.networks,
      },
    });
    return { ...(await apiKeyView(db, organizationId, row)), apiKeySecret: value };
  });
}
