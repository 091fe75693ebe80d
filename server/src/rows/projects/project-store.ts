/** SQL of projects. */
import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { likeText } from '../../ground/database/like-text.ts';
import { isUuid, versioned } from '../entity-home.ts';
import { lockOrganizationRow } from '../organizations/organization-store.ts';
import type { Reach } from '../places.ts';
import { homeOf, rowById, rowsByIds, updateById } from '../row-queries.ts';
import type { ProjectTable } from '../schema.ts';

/** A project, for what looks up things that it may use. */
export interface ProjectPlace {
  readonly organizationId: string;
  readonly projectId: string;
}

/** The same, where a template may use them. */
export interface UsePlace {
  readonly organizationId: string;
  /** Null: any project of the organization. */
  readonly projectId: string | null;
}

export type ProjectRow = Selectable<ProjectTable>;

export interface NewProject {
  readonly organizationId: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parent: ProjectRow | null;
  /** The hidden module-testing project. */
  readonly isTesting?: boolean;
}

/**
 * Holds back all other changes of an organization's tree until the transaction ends: paths of sub-projects
 * are made from those above them, and two moves at once could make a circle.
 */
export async function lockProjectTree(tx: Connection, organizationId: string): Promise<void> {
  await lockOrganizationRow(tx, organizationId);
}

/** @returns the project, or undefined where its parent already has one of that name */
export async function insertProject(
  tx: Connection,
  context: ActorContext,
  project: NewProject,
): Promise<ProjectRow | undefined> {
  const [id, now] = [context.newId(), context.now()];
  return tx
    .insertInto('project')
    .values({
      id,
      organization_id: project.organizationId,
      parent_project_id: project.parent?.id ?? null,
      name: project.name,
      description: project.description,
      tags: [...project.tags],
      hierarchy: project.parent ? `${project.parent.hierarchy}|${id}` : id,
      is_testing: project.isTesting ?? false,
      created_by: context.actor.userId,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export const getProjectRow = rowById('project');

export const getProjectRows = rowsByIds('project');

/** The project, locked until the transaction ends. */
export async function holdProjectRow(tx: Connection, id: string): Promise<ProjectRow | undefined> {
  if (!isUuid(id)) return undefined;
  return tx.selectFrom('project').selectAll().where('id', '=', id).forShare().executeTakeFirst();
}

/** The same, with a further column, such as its policy, and with what the statement finds out in addition. */
export async function holdProjectWith<Column, Answer>(
  tx: Connection,
  id: string,
  column: (projectId: Expression<string>) => RawBuilder<Column>,
  answer: (projectId: Expression<string>) => RawBuilder<Answer>,
) {
  return tx
    .selectFrom('project')
    .selectAll()
    .select((eb) => [column(eb.ref('project.id')).as('column'), answer(eb.ref('project.id')).as('answer')])
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();
}

export async function getTestingProjectRow(
  db: Connection,
  organizationId: string,
): Promise<ProjectRow | undefined> {
  return db
    .selectFrom('project')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('is_testing', '=', true)
    .executeTakeFirst();
}

export const updateProjectRow = updateById('project');

/** Whether a place of the tree has another project of this name. */
export async function hasSiblingNamed(
  db: Connection,
  place: Pick<ProjectRow, 'id' | 'organization_id' | 'parent_project_id' | 'name'>,
): Promise<boolean> {
  const query = db
    .selectFrom('project')
    .select('id')
    .where('organization_id', '=', place.organization_id)
    .where('name', '=', place.name)
    .where('id', '<>', place.id)
    .where('is_archived', '=', false)
    .where('is_testing', '=', false);
  const among =
    place.parent_project_id === null
      ? query.where('parent_project_id', 'is', null)
      : query.where('parent_project_id', '=', place.parent_project_id);
  return (await among.executeTakeFirst()) !== undefined;
}

/** The project and everything below it, as far as it is not archived. */
function unarchived(db: Connection, root: ProjectRow) {
  return db
    .selectFrom('project')
    .select('id')
    .where('organization_id', '=', root.organization_id)
    .where('is_archived', '=', false)
    .where((eb) => eb.or([eb('id', '=', root.id), eb('hierarchy', 'like', `${root.hierarchy}|%`)]));
}

export async function unarchivedIds(db: Connection, root: ProjectRow): Promise<string[]> {
  return (await unarchived(db, root).execute()).map((row) => row.id);
}

/** The project and everything below it. @returns their ids, those that changed */
export async function archiveProjectRows(tx: Connection, root: ProjectRow, at: Date): Promise<string[]> {
  const rows = await tx
    .updateTable('project')
    .set({ is_archived: true, updated_at: at })
    .where('id', 'in', unarchived(tx, root))
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Puts a project below another, or at the top; the paths of everything below it change with it. */
export async function moveProjectRows(
  tx: Connection,
  row: ProjectRow,
  parent: ProjectRow | null,
  at: Date,
): Promise<ProjectRow> {
  const hierarchy = parent ? `${parent.hierarchy}|${row.id}` : row.id;
  await tx
    .updateTable('project')
    .set({
      hierarchy: sql`${hierarchy} || substr(hierarchy, ${row.hierarchy.length + 1}::integer)`,
      updated_at: at,
    })
    .where('organization_id', '=', row.organization_id)
    .where('hierarchy', 'like', `${row.hierarchy}|%`)
    .execute();
  return updateProjectRow(tx, row.id, { parent_project_id: parent?.id ?? null, hierarchy, updated_at: at });
}

/** Projects with everything below them, archived ones included. */
export async function projectsBelow(
  db: Connection,
  ids: readonly string[],
): Promise<
  Pick<ProjectRow, 'id' | 'organization_id' | 'hierarchy' | 'parent_project_id' | 'name' | 'is_archived'>[]
> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('project')
    .select(['id', 'organization_id', 'hierarchy', 'parent_project_id', 'name', 'is_archived'])
    .where((eb) =>
      eb(
        'organization_id',
        'in',
        eb
          .selectFrom('project')
          .select('organization_id')
          .where('id', 'in', [...ids]),
      ),
    )
    .where(sql<boolean>`string_to_array(hierarchy, '|') && ${ids}::text[]`)
    .execute();
}

function within({ organizationIds, projectIds }: Pick<Reach, 'organizationIds' | 'projectIds'>) {
  return sql<boolean>`(organization_id = any(${organizationIds}::uuid[]) or id = any(${projectIds}::uuid[]))`;
}

/** Newest first, without the hidden ones. */
export async function listProjectRows(
  db: Connection,
  reach: Pick<Reach, 'organizationIds' | 'projectIds'>,
  isArchived?: boolean,
): Promise<ProjectRow[]> {
  return db
    .selectFrom('project')
    .selectAll()
    .where(within(reach))
    .where('is_testing', '=', false)
    .$if(isArchived !== undefined, (query) => query.where('is_archived', '=', isArchived === true))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Ids of projects, and their paths from the top; archived ones, too. */
export async function listProjectPaths(
  db: Connection,
  reach: Pick<Reach, 'organizationIds' | 'projectIds'>,
): Promise<Pick<ProjectRow, 'id' | 'hierarchy'>[]> {
  return db.selectFrom('project').select(['id', 'hierarchy']).where(within(reach)).execute();
}

/** Projects whose name has a text in it. */
export async function projectsNamedLike(
  db: Connection,
  reach: Pick<Reach, 'organizationIds' | 'projectIds'>,
  text: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select('id')
    .where(within(reach))
    .where('name', 'ilike', `%${likeText(text)}%`)
    .execute();
  return rows.map((row) => row.id);
}

/** The name of a project, as a column of a statement about what belongs to it. */
export function projectNameOf(id: Expression<string>): RawBuilder<string> {
  return sql`(select name from project where id = ${id})`;
}

/**
 * A project with those above it, as a table of a statement: `id`, and `place`, which counts from the top.
 * @param projectId the column, or the value
 */
export function pathOf(projectId: Expression<string>): RawBuilder<unknown> {
  return sql`(select step.id::uuid as id, step.place from project own,
    unnest(string_to_array(own.hierarchy, '|')) with ordinality as step (id, place) where own.id = ${projectId})`;
}

/** The ids of a project and of those above it, as an array in other statements. */
export function projectsAbove(id: Expression<string>): RawBuilder<string[]> {
  return sql`(select string_to_array(own.hierarchy, '|')::uuid[] from project own where own.id = ${id})`;
}

/** The organization of a project, as a value in other statements. */
export function organizationOfProject(id: Expression<string>): RawBuilder<string> {
  return sql`(select own.organization_id from project own where own.id = ${id})`;
}

/** The project with those above it, from the top down. */
export async function projectPath(
  db: Connection,
  projectId: string,
): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    select p.id, p.name from project own, unnest(string_to_array(own.hierarchy, '|')) with ordinality as step (id, place)
    join project p on p.id = step.id::uuid where own.id = ${projectId} order by step.place`.execute(db);
  return rows;
}

/**
 * Whether something that is kept for some projects is for one of them, or for a project below: a condition of
 * a statement.
 * @param projectIds the column; an empty one means all projects
 * @param projectId null: of any project
 */
export function isForProject(projectIds: RawBuilder<unknown>, projectId: string | null): RawBuilder<boolean> {
  if (projectId === null) return sql<boolean>`true`;
  return sql<boolean>`(${projectIds} = '{}' or ${projectIds} &&
    (select string_to_array(hierarchy, '|')::uuid[] from project where id = ${projectId}))`;
}

/** Whether one of some projects is in a list, or below one of it; an empty list means all projects. */
export async function isAnyInProjects(
  db: Connection,
  projectIds: readonly string[],
  list: readonly string[],
): Promise<boolean> {
  if (list.length === 0) return true;
  if (projectIds.length === 0) return false;
  const row = await db
    .selectFrom('project')
    .select('id')
    .where('id', 'in', [...projectIds])
    .where(sql<boolean>`string_to_array(hierarchy, '|')::uuid[] && ${[...list]}::uuid[]`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Home of a project: itself. */
export const projectHome = versioned(homeOf('project', 'id as project_id'));
