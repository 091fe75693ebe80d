/** SQL about what templates name: credentials, connections and installations. */
import { sql } from 'kysely';
import type { Connection } from '../context.ts';

/** A credential or a connection, by its id in lower case. */
export type NamedByTemplates =
  | { readonly tokenId: string }
  | { readonly sshKeyId: string }
  | { readonly vcsConnectionId: string };

export interface TemplateUse {
  readonly id: string;
  readonly name: string;
  readonly project_id: string | null;
  readonly is_single_use: boolean;
}

function condition(named: NamedByTemplates) {
  if ('sshKeyId' in named)
    return sql<boolean>`exists (select from jsonb_array_elements(settings -> 'sshKeys') as key
      where lower(key ->> 'id') = ${named.sshKeyId})`;
  return 'tokenId' in named
    ? sql<boolean>`lower(settings ->> 'tokenId') = ${named.tokenId}`
    : sql<boolean>`lower(settings ->> 'vcsConnectionId') = ${named.vcsConnectionId}`;
}

/** The templates of an organization that name something, by name; deleted ones are left out. */
export async function templatesNaming(
  db: Connection,
  organizationId: string,
  named: NamedByTemplates,
): Promise<TemplateUse[]> {
  return db
    .selectFrom('template')
    .select(['id', 'name', 'project_id', 'is_single_use'])
    .where('organization_id', '=', organizationId)
    .where('is_deleted', '=', false)
    .where(condition(named))
    .orderBy('name')
    .orderBy('id')
    .execute();
}

/** Repositories for which templates of an organization name an installation, the latest first. */
export async function installationsOf(
  db: Connection,
  organizationId: string,
): Promise<{ readonly repository: string; readonly installation: string }[]> {
  return db
    .selectFrom('template')
    .select(['repository', sql<string>`settings ->> 'githubInstallationId'`.as('installation')])
    .where('organization_id', '=', organizationId)
    .where('is_deleted', '=', false)
    .where(sql<boolean>`settings ->> 'githubInstallationId' is not null`)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}
