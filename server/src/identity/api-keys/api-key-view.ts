/** API keys as the interface shows them: never with what is stored of their secrets. */
import type { ApiKey, PersonalApiKey } from '#contract/api-keys/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import { activeRolesOf } from '../../rows/organizations/membership-store.ts';
import type { ApiKeyRow } from '../../rows/users/api-key-store.ts';
import { creatorsOf, type UserRow } from '../../rows/users/user-store.ts';
import { userView } from '../../tenancy/users/user-view.ts';

function secretsOf(row: ApiKeyRow): ApiKey['secrets'] {
  const first = { id: row.secret_id, at: row.secret_created_at, usedAt: row.secret_used_at };
  const second = row.second_secret_id &&
    row.second_secret_created_at && {
      id: row.second_secret_id,
      at: row.second_secret_created_at,
      usedAt: row.second_secret_used_at,
    };
  return [first, ...(second ? [second] : [])].map(({ id, at, usedAt }) => ({
    id,
    createdAt: at.toISOString(),
    lastUsedAt: usedAt?.toISOString() ?? null,
  }));
}

function commonView(row: ApiKeyRow, users: ReadonlyMap<string, UserRow>): PersonalApiKey {
  // The first key of an installation has no creator.
  const creator = users.get(row.created_by ?? '');
  return {
    id: row.id,
    name: row.name,
    apiKeyId: row.id,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by ?? row.user_id,
    createdByUser: creator ? userView(creator) : null,
    expiresAt: row.expires_at?.toISOString() ?? null,
    networks: row.networks,
    secrets: secretsOf(row),
  };
}

/** Keys of one organization. */
export async function apiKeyViews(
  db: Connection,
  organizationId: string,
  rows: readonly ApiKeyRow[],
): Promise<ApiKey[]> {
  const [users, roles] = await Promise.all([
    creatorsOf(db, rows),
    activeRolesOf(
      db,
      organizationId,
      rows.map((row) => row.user_id),
    ),
  ]);
  return rows.map((row) => ({
    ...commonView(row, users),
    description: row.description,
    organizationId,
    organizationRole: roles.get(row.user_id) ?? '',
    ownerId: row.owner_id,
  }));
}

export async function apiKeyView(db: Connection, organizationId: string, row: ApiKeyRow): Promise<ApiKey> {
  const [view] = await apiKeyViews(db, organizationId, [row]);
  return view as ApiKey;
}

/** Keys of people. */
export async function personalApiKeyViews(
  db: Connection,
  rows: readonly ApiKeyRow[],
): Promise<PersonalApiKey[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => commonView(row, users));
}
