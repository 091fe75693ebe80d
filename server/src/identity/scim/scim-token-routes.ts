/** Operations on the tokens of identity providers. */

import { operations } from '#contract/operations.ts';
import type { ScimToken } from '#contract/scim/shapes.ts';
import { requireRights } from '../../framework/access/grant.ts';
import { rightsOfRole } from '../../framework/access/role-rights.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, notFound } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import {
  deleteTokenRow,
  insertTokenRow,
  listTokenRows,
  type ScimTokenRow,
} from '../../rows/scim/scim-token-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { scimAddress } from './service-address.ts';

const mostTokens = 2;

async function views({ db }: ActorContext, rows: readonly ScimTokenRow[]): Promise<ScimToken[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by,
    createdByUser: userOf(users, row.created_by),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  }));
}

/** Teams can have any role, and the token puts people into teams and takes them away. @throws MissingRight 403 */
function requireAdmin({ actor }: ActorContext, organizationId: string): void {
  const rights = rightsOfRole('organization', 'Admin', null);
  requireRights(actor, inOrganization(organizationId), rights, 'A SCIM token');
}

/** @throws MissingRight 403, Refusal 409 where there are two already */
async function createToken(context: ActorContext, organizationId: string, url: string) {
  requireAdmin(context, organizationId);
  const secret = newKeySecret();
  return inTransaction(context, async (context) => {
    await lockOrganizationRow(context.db, organizationId);
    if ((await listTokenRows(context.db, organizationId)).length >= mostTokens)
      throw conflict(`The organization has ${mostTokens} SCIM tokens already: revoke one first`);
    const row = await insertTokenRow(context.db, {
      id: context.newId(),
      organization_id: organizationId,
      secret_hmac: context.keyHash.hash(secret),
      created_by: context.actor.userId,
      created_at: context.now(),
    });
    await audit(context, 'created', organizationId, row.id);
    const [view] = await views(context, [row]);
    return { ...(view as ScimToken), token: `${row.id}.${secret}`, url };
  });
}

function audit(context: ActorContext, action: string, organizationId: string, id: string): Promise<void> {
  return recordAudit(context, {
    organizationId,
    action: `scimToken.${action}`,
    entityId: id,
  });
}

export const scimTokenRoutes: Route[] = [
  route(operations.listScimTokens, async (context, { params }) =>
    views(context, await listTokenRows(context.db, params.id)),
  ),
  route(operations.createScimToken, (context, { params }, { request }) =>
    createToken(context, params.id, scimAddress(context, request)),
  ),
  route(operations.deleteScimToken, (context, { params: { id, tokenId } }) =>
    inTransaction(context, async (context) => {
      requireAdmin(context, id);
      if (!isUuid(tokenId) || !(await deleteTokenRow(context.db, id, tokenId)))
        throw notFound('SCIM token', tokenId);
      await audit(context, 'revoked', id, tokenId);
      return { id: tokenId };
    }),
  ),
];
