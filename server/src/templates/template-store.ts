/** SQL of templates, single-use ones included. */
import type { Selectable } from 'kysely';
import { homeById } from '../access/entity-home.ts';
import type { Connection, Context } from '../context.ts';
import type { TemplateTable } from '../database/schema.ts';
import type { TemplateSettings } from '../database/stored.ts';
import type { HostCredentials } from './repository-credentials.ts';

export type TemplateRow = Selectable<TemplateTable>;

export interface NewTemplate {
  readonly organizationId: string;
  readonly projectId: string;
  readonly name: string;
  readonly type: TemplateRow['type'];
  readonly repository: string;
  readonly isSingleUse: boolean;
  readonly settings: TemplateSettings;
  readonly credentials: HostCredentials | null;
  readonly authorId: string;
}

function association(id: string) {
  return { table: 'template', row: id, field: 'sealed_token' };
}

export async function insertTemplate(
  tx: Connection,
  context: Context,
  template: NewTemplate,
): Promise<TemplateRow> {
  const id = context.newId();
  return tx
    .insertInto('template')
    .values({
      id,
      organization_id: template.organizationId,
      project_id: template.projectId,
      project_ids: [template.projectId],
      name: template.name,
      type: template.type,
      repository: template.repository,
      is_single_use: template.isSingleUse,
      settings: JSON.stringify(template.settings),
      sealed_token:
        template.credentials && context.sealer.seal(JSON.stringify(template.credentials), association(id)),
      author_id: template.authorId,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function getTemplateRow(db: Connection, id: string): Promise<TemplateRow | undefined> {
  return db.selectFrom('template').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Changes settings of a template; the others are unchanged. */
export async function updateTemplateSettings(
  tx: Connection,
  row: TemplateRow,
  repository: string,
  settings: TemplateSettings,
  at: Date,
): Promise<TemplateRow> {
  return tx
    .updateTable('template')
    .set({ repository, settings: JSON.stringify({ ...row.settings, ...settings }), updated_at: at })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The credentials that came with the repository's address, or null. */
export function openCredentials(
  context: Pick<Context, 'sealer'>,
  row: Pick<TemplateRow, 'id' | 'sealed_token'>,
): HostCredentials | null {
  return row.sealed_token === null
    ? null
    : (JSON.parse(
        context.sealer.open(row.sealed_token, association(row.id)).toString('utf8'),
      ) as HostCredentials);
}

/** Where a template lives. */
export const templateHome = homeById((db, id) =>
  db.selectFrom('template').select(['organization_id', 'project_id']).where('id', '=', id).executeTakeFirst(),
);

/** The template of a single environment moves to another project with it. */
export async function moveTemplateToProject(
  tx: Connection,
  id: string,
  projectId: string,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('template')
    .set({ project_id: projectId, project_ids: [projectId], updated_at: at })
    .where('id', '=', id)
    .execute();
}

/** Deletes a template that belonged to a single environment; any other is kept. @returns whether it was deleted */
export async function deleteSingleUseTemplate(tx: Connection, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('template')
    .where('id', '=', id)
    .where('is_single_use', '=', true)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
