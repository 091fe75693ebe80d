/** SQL of templates, single-use ones included. */
import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import { creatableTemplateTypes } from '#contract/schema/enumerations.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { unlessTaken } from '../../ground/database/unless-taken.ts';
import { homeById, isUuid } from '../entity-home.ts';
import { type LockedEnvironment, lockEnvironmentsOfTemplate } from '../environments/environment-store.ts';
import { homeOf, rowById, rowsByIds } from '../row-queries.ts';
import type { TemplateTable } from '../schema.ts';
import type { HostCredentials, TemplateSettings } from './columns.ts';

export type TemplateRow = Selectable<TemplateTable>;

export interface NewTemplate {
  readonly organizationId: string;
  /** That it was created in; null: the organization. */
  readonly projectId: string | null;
  /** Those that may use it. */
  readonly projectIds: readonly string[];
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

function sealCredentials(context: Context, id: string, credentials: HostCredentials | null): Buffer | null {
  return credentials && context.sealer.seal(JSON.stringify(credentials), association(id));
}

/** @returns the row, or undefined where the organization already has a template of that name */
export async function insertTemplate(
  tx: Connection,
  context: Context,
  template: NewTemplate,
): Promise<TemplateRow | undefined> {
  const id = context.newId();
  const now = context.now();
  return tx
    .insertInto('template')
    .values({
      id,
      organization_id: template.organizationId,
      project_id: template.projectId,
      project_ids: [...template.projectIds],
      name: template.name,
      type: template.type,
      repository: template.repository,
      is_single_use: template.isSingleUse,
      settings: JSON.stringify(template.settings),
      sealed_token: sealCredentials(context, id, template.credentials),
      author_id: template.authorId,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export const getTemplateRow = rowById('template');

export const getTemplateRows = rowsByIds('template');

/** The project of a template, as a value in other statements; null: it belongs to the organization. */
export function projectOfTemplate(id: Expression<string>): RawBuilder<string | null> {
  return sql`(select own.project_id::uuid from template own where own.id = ${id})`;
}

/** Whether a template has a type and is not deleted, as a condition of other statements. */
export function isOfType(id: Expression<string>, type: TemplateRow['type']): RawBuilder<boolean> {
  return sql<boolean>`exists (select from template own
    where own.id = ${id} and own.type = ${type} and not own.is_deleted)`;
}

/** The template, locked until the transaction ends. */
export async function holdTemplateRow(tx: Connection, id: string): Promise<TemplateRow | undefined> {
  if (!isUuid(id)) return undefined;
  return tx.selectFrom('template').selectAll().where('id', '=', id).forShare().executeTakeFirst();
}

/** A template that may be changed, and the environments that use it. */
export interface LockedTemplate {
  readonly row: TemplateRow;
  readonly environments: readonly LockedEnvironment[];
}

/**
 * Locks a template and the environments that use it, environments first: deployments lock their environment, then
 * change a template of its own.
 */
export async function lockTemplate(tx: Connection, id: string): Promise<LockedTemplate | undefined> {
  if (!isUuid(id)) return undefined;
  const environments = await lockEnvironmentsOfTemplate(tx, id);
  const row = await tx
    .selectFrom('template')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row && { row, environments };
}

/** New content of a template. */
export interface TemplateContent
  extends Pick<NewTemplate, 'name' | 'type' | 'repository' | 'settings' | 'projectIds'> {
  /** Undefined: those that are stored stay. */
  readonly credentials: HostCredentials | null | undefined;
}

/** @returns the row, or undefined where another template that people created has the name */
export async function replaceTemplate(
  tx: Connection,
  context: Context,
  { id }: TemplateRow,
  { name, type, repository, settings, projectIds, credentials }: TemplateContent,
): Promise<TemplateRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('template')
      .set({
        name,
        type,
        repository,
        project_ids: [...projectIds],
        settings: JSON.stringify(settings),
        ...(credentials === undefined ? {} : { sealed_token: sealCredentials(context, id, credentials) }),
        updated_at: context.now(),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

/** The projects that may use a template. */
export async function setTemplateProjects(
  tx: Connection,
  { id }: TemplateRow,
  projectIds: readonly string[],
  at: Date,
): Promise<TemplateRow> {
  return tx
    .updateTable('template')
    .set({ project_ids: [...projectIds], updated_at: at })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The row stays, for the environments that use it. */
export async function markTemplateDeleted(tx: Connection, { id }: TemplateRow, at: Date): Promise<void> {
  await tx.updateTable('template').set({ is_deleted: true, updated_at: at }).where('id', '=', id).execute();
}

/** Those that people create and list; the words are those of the index. */
function shared(db: Connection) {
  return db
    .selectFrom('template')
    .where('is_single_use', '=', false)
    .where('is_deleted', '=', false)
    .where('type', 'in', [...creatableTemplateTypes]);
}

/** Templates of a type that has its own operations. */
function ofType(db: Connection, type: TemplateRow['type']) {
  return db.selectFrom('template').where('type', '=', type).where('is_deleted', '=', false);
}

export interface TemplateFilter {
  readonly organizationId: string;
  /** Those that environments of this project can be created from. */
  readonly projectId?: string;
  readonly name?: string;
}

/** Newest first. */
export async function listTemplateRows(
  db: Connection,
  { organizationId, projectId, name }: TemplateFilter,
): Promise<TemplateRow[]> {
  let query = shared(db).selectAll().where('organization_id', '=', organizationId);
  if (name !== undefined) query = query.where('name', '=', name);
  if (projectId !== undefined)
    query = query.where(sql<boolean>`(project_id = ${projectId} or ${projectId} = any(project_ids))`);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
}

/** Templates of some types: ids, as a part of other statements. */
export function templateIdsOfTypes(db: Connection, types: readonly TemplateRow['type'][]) {
  return db
    .selectFrom('template')
    .select('id')
    .where('type', '=', sql<TemplateRow['type']>`any(${types}::text[])`);
}

/** Those of a type, newest first. @param name the exact one; absent: any */
export async function listRowsOfType(
  db: Connection,
  type: TemplateRow['type'],
  { organizationId, name }: Pick<TemplateFilter, 'organizationId' | 'name'>,
): Promise<TemplateRow[]> {
  let query = ofType(db, type).selectAll().where('organization_id', '=', organizationId);
  if (name !== undefined) query = query.where('name', '=', name);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
}

/** Of several templates, those of a type that were not deleted; in no particular order. */
export async function getRowsOfType(
  db: Connection,
  type: TemplateRow['type'],
  ids: readonly string[],
): Promise<TemplateRow[]> {
  return ids.length === 0
    ? []
    : ofType(db, type)
        .selectAll()
        .where('id', 'in', [...ids])
        .execute();
}

/** Home of an entity of a type that was not deleted. */
export function homeOfType(type: TemplateRow['type']) {
  return homeById((db, id) =>
    ofType(db, type).select(['organization_id', 'project_id']).where('id', '=', id).executeTakeFirst(),
  );
}

/**
 * Lets others use the template that belonged to one environment.
 * @returns the row, or undefined where another template that people created has the name
 */
export async function shareTemplate(
  tx: Connection,
  { id }: TemplateRow,
  name: string,
  at: Date,
): Promise<TemplateRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('template')
      .set({ name, is_single_use: false, updated_at: at })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
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

/** Home of a template. */
export const templateHome = homeOf('template', 'project_id');

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

/** Deletes templates that belonged to a single environment; others are kept. @returns the ids of those that were */
export async function deleteSingleUseTemplates(tx: Connection, ids: readonly string[]): Promise<string[]> {
  const rows = await tx
    .deleteFrom('template')
    .where('id', 'in', [...ids])
    .where('is_single_use', '=', true)
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}
