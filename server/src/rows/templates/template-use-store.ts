/** SQL about what templates name: credentials, connections and installations. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { TemplateTable } from '../schema.ts';

/** A credential or a connection that settings can name, by its id in lower case. */
export type NamedBySettings =
  | { readonly tokenId: string }
  | { readonly sshKeyId: string }
  | { readonly vcsConnectionId: string };

export interface TemplateUse {
  readonly id: string;
  readonly name: string;
  readonly project_id: string | null;
  readonly is_single_use: boolean;
  readonly is_deleted: boolean;
}

/**
 * Whether the column `settings` names something.
 * @param keys the field of its SSH keys
 */
export function settingsName(named: NamedBySettings, keys: 'sshKeys' | 'sshkeys') {
  if ('sshKeyId' in named)
    return sql<boolean>`exists (select from jsonb_array_elements(settings -> ${sql.lit(keys)}) as key
      where lower(key ->> 'id') = ${named.sshKeyId})`;
  return 'tokenId' in named
    ? sql<boolean>`lower(settings ->> 'tokenId') = ${named.tokenId}`
    : sql<boolean>`lower(settings ->> 'vcsConnectionId') = ${named.vcsConnectionId}`;
}

/** The templates of an organization that name something, by name, with deleted ones. */
export async function templatesNaming(
  db: Connection,
  organizationId: string,
  named: NamedBySettings,
): Promise<TemplateUse[]> {
  return db
    .selectFrom('template')
    .select(['id', 'name', 'project_id', 'is_single_use', 'is_deleted'])
    .where('organization_id', '=', organizationId)
    .where(settingsName(named, 'sshKeys'))
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

/** Templates of some projects, single-use ones included, the oldest first. Deleted ones are left out. */
export async function templatesOfProjects(
  db: Connection,
  organizationId: string,
  projectIds: readonly string[],
): Promise<Selectable<TemplateTable>[]> {
  return db
    .selectFrom('template')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('is_deleted', '=', false)
    .where(sql<boolean>`(project_id = any(${projectIds}::text[]) or project_ids && ${projectIds}::text[])`)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}
