/** Cloud credentials as replies show them: never with their values. */
import type { Credential } from '#contract/credentials/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import type { CredentialRow } from '../../rows/credentials/credential-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

export async function credentialViews(db: Connection, rows: readonly CredentialRow[]): Promise<Credential[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    ...(row.project_id === null ? {} : { projectId: row.project_id }),
    type: row.type,
    value: null,
    createdByUser: userOf(users, row.created_by),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }));
}

export async function credentialView(db: Connection, row: CredentialRow): Promise<Credential> {
  const [view] = await credentialViews(db, [row]);
  return view as Credential;
}
