/** A user as the interface embeds it. */
import type { User } from '#contract/users/shapes.ts';
import type { UserRow } from '../../rows/users/user-store.ts';

/** Fields without a value are absent. */
export function userView(row: UserRow): User {
  return {
    user_id: row.id,
    email: row.email,
    name: row.name,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    app_metadata: {
      ...(row.is_api_key ? { isApiKey: true } : {}),
      ...(row.api_key_type ? { apiKeyType: row.api_key_type } : {}),
      ...(row.created_by ? { createdBy: row.created_by } : {}),
    },
    ...(row.picture ? { picture: row.picture } : {}),
    ...(row.given_name ? { given_name: row.given_name } : {}),
    ...(row.family_name ? { family_name: row.family_name } : {}),
    ...(row.last_login ? { last_login: row.last_login.toISOString() } : {}),
  };
}

/** The user object of an id, also of one whose user is gone. */
export function userOf(users: ReadonlyMap<string, UserRow>, id: string): User {
  const row = users.get(id);
  return row ? userView(row) : { user_id: id, name: id, email: '' };
}
