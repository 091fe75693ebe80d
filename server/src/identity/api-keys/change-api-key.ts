/** Changes and deletes keys of organizations. */
import type { UpdateApiKeyBody } from '#contract/api-keys/operations.ts';
import type { ApiKey } from '#contract/api-keys/shapes.ts';
import { requireRightsOfKey } from '../../framework/access/grant.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import { deleteMembership } from '../../rows/organizations/membership-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { deleteRolesOf } from '../../rows/roles/grant-store.ts';
import { leaveTeams } from '../../rows/teams/team-store.ts';
import {
  type ApiKeyRow,
  blockKeyUser,
  deleteApiKeyRow,
  lockApiKeyRow,
  renameKeyUser,
  updateApiKeyRow,
} from '../../rows/users/api-key-store.ts';
import { requireOtherAdmin } from '../../tenancy/organizations/keep-an-admin.ts';
import { apiKeyView } from './api-key-view.ts';
import { checkOwner } from './create-api-key.ts';
import { limitColumns } from './key-limits.ts';

/** View of a key in the audit trail. */
function audited(row: ApiKeyRow): Record<string, unknown> {
  return {
    name: row.name,
    description: row.description,
    ownerId: row.owner_id,
    expiresAt: row.expires_at,
    networks: row.networks,
  };
}

/**
 * The key, whose rights are locked until the transaction ends.
 * @throws Refusal 404 where it is gone, 403 where it has rights that the caller does not have
 */
export async function lockKey(
  context: ActorContext,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
): Promise<ApiKeyRow> {
  // The organization first, as everything that changes roles does.
  await lockOrganizationRow(context.db, organizationId);
  const row = orNotFound(await lockApiKeyRow(context.db, id), 'API key', id);
  await requireRightsOfKey(context, row, organizationId);
  return row;
}

/**
 * The right was checked.
 * @throws Refusal 404 where it is gone, 400 for wrong limits or an unknown owner, 403 where the key has rights
 * that the caller does not have
 */
export async function updateApiKey(
  context: ActorContext,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
  body: UpdateApiKeyBody,
): Promise<ApiKey> {
  const limits = limitColumns(context, body);
  return inTransaction(context, async (context) => {
    const { db } = context;
    const before = await lockKey(context, { id, organizationId });
    if (body.ownerId !== before.owner_id) await checkOwner(db, organizationId, body.ownerId);
    const changes = {
      ...limits,
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(body.ownerId === undefined ? {} : { owner_id: body.ownerId }),
    };
    if (Object.keys(changes).length === 0) return apiKeyView(db, organizationId, before);
    const after = await updateApiKeyRow(db, id, changes);
    if (after.name !== before.name) await renameKeyUser(db, after.user_id, after.name, context.now());
    await recordAudit(context, {
      organizationId,
      action: 'apiKey.updated',
      entityId: id,
      ...changesOf(audited(before), audited(after)),
    });
    return apiKeyView(db, organizationId, after);
  });
}

/**
 * The right was checked. The key no longer identifies a caller; its user remains, for what it did.
 * @throws Refusal 404 where it is gone, 403 as `updateApiKey` does, 409 where it is the last Admin
 */
export async function deleteApiKey(
  context: ActorContext,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const { db } = context;
    // The user of a key of an organization has the id of the key.
    await requireOtherAdmin(context, organizationId, id);
    const row = orNotFound(await lockApiKeyRow(db, id), 'API key', id);
    await requireRightsOfKey(context, row, organizationId);
    await deleteRolesOf(db, organizationId, row.user_id);
    await leaveTeams(db, organizationId, row.user_id);
    await deleteMembership(db, organizationId, row.user_id);
    await deleteApiKeyRow(db, id);
    await blockKeyUser(db, row.user_id, context.now());
    await recordAudit(context, {
      organizationId,
      action: 'apiKey.deleted',
      entityId: id,
      details: { name: row.name },
    });
    return { id };
  });
}
