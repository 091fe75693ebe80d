/** SQL of environments. */
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { homeById } from '../access/entity-home.ts';
import type { Connection, Context } from '../context.ts';
import { likeText } from '../database/like-text.ts';
import type { EnvironmentTable } from '../database/schema.ts';
import { notFound } from '../http/errors.ts';

export type EnvironmentRow = Selectable<EnvironmentTable>;

declare const lock: unique symbol;

/**
 * An environment whose row the transaction has locked (or made). What moves deployments, or changes the
 * environment, its state or its schedules, requires it. Only this file makes one.
 */
export type LockedEnvironment = EnvironmentRow & { readonly [lock]: true };

/**
 * Locks the environment: everything that moves one of its deployments takes this lock first, so that moves
 * never cross.
 */
export async function lockEnvironmentRow(tx: Connection, id: string): Promise<LockedEnvironment | undefined> {
  const row = await tx
    .selectFrom('environment')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row as LockedEnvironment | undefined;
}

/** Locks the environment. @throws Refusal 404 */
export async function requireEnvironment(
  { db }: Pick<Context, 'db'>,
  id: string,
): Promise<LockedEnvironment> {
  const environment = await lockEnvironmentRow(db, id);
  if (!environment) throw notFound('environment', id);
  return environment;
}

/** Active environments that no other transaction has locked; `except` by id. */
function idleEnvironments(tx: Connection, except: readonly string[]) {
  const idle = tx
    .selectFrom('environment')
    .selectAll('environment')
    .where('environment.is_locked', '=', false)
    .where('environment.is_archived', '=', false)
    .limit(1)
    .forUpdate('environment')
    .skipLocked();
  return except.length === 0 ? idle : idle.where('environment.id', 'not in', [...except]);
}

export type IdleEnvironments = ReturnType<typeof idleEnvironments>;

/**
 * Locks an environment that is neither archived nor locked by a person or another transaction.
 * @param except ids of environments to leave out
 * @param narrow restricts the search
 */
export async function lockIdleEnvironment(
  tx: Connection,
  except: readonly string[],
  narrow: (idle: IdleEnvironments) => IdleEnvironments,
): Promise<LockedEnvironment | undefined> {
  const row = await narrow(idleEnvironments(tx, except)).executeTakeFirst();
  return row as LockedEnvironment | undefined;
}

export async function getEnvironmentRow(db: Connection, id: string): Promise<EnvironmentRow | undefined> {
  return db.selectFrom('environment').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function getEnvironmentRows(db: Connection, ids: readonly string[]): Promise<EnvironmentRow[]> {
  return ids.length === 0
    ? []
    : db
        .selectFrom('environment')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute();
}

export async function insertEnvironment(
  tx: Connection,
  row: Insertable<EnvironmentTable>,
): Promise<LockedEnvironment> {
  const stored = await tx.insertInto('environment').values(row).returningAll().executeTakeFirstOrThrow();
  return stored as LockedEnvironment;
}

export async function updateEnvironmentRow(
  tx: Connection,
  { id }: LockedEnvironment,
  changes: Updateable<EnvironmentTable>,
): Promise<LockedEnvironment> {
  const stored = await tx
    .updateTable('environment')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return stored as LockedEnvironment;
}

/** Its deployments, uploads and variables must be deleted first; schedules and state access go with it. */
export async function deleteEnvironmentRow(tx: Connection, { id }: LockedEnvironment): Promise<void> {
  await tx.deleteFrom('environment').where('id', '=', id).execute();
}

export async function workspaceNameExists(
  db: Connection,
  organizationId: string,
  workspaceName: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('environment')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('workspace_name', '=', workspaceName)
    .executeTakeFirst();
  return row !== undefined;
}

/** What the list operation filters by; absent fields do not filter. */
export interface EnvironmentFilter {
  readonly organizationIds: readonly string[];
  readonly projectId?: string;
  readonly createdBy?: string;
  readonly isActive?: boolean;
  readonly name?: string;
  readonly isRemoteBackend?: boolean;
  readonly workspaceName?: string;
  readonly workspaceNamePrefix?: string;
  readonly includeSubEnvironments?: boolean;
  /** A part of one of the environment's texts, or of its project's name. */
  readonly search?: { readonly text: string; readonly projectIds: readonly string[] };
  readonly tag?: string;
}

function filtered(db: Connection, filter: EnvironmentFilter) {
  let query = db.selectFrom('environment').where('organization_id', 'in', [...filter.organizationIds]);
  if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId);
  if (filter.createdBy !== undefined) query = query.where('user_id', '=', filter.createdBy);
  if (filter.isActive !== undefined) query = query.where('is_archived', '=', !filter.isActive);
  if (filter.name !== undefined) query = query.where('name', '=', filter.name);
  if (filter.isRemoteBackend !== undefined)
    query = query.where('is_remote_backend', '=', filter.isRemoteBackend);
  if (filter.workspaceName !== undefined) query = query.where('workspace_name', '=', filter.workspaceName);
  if (filter.workspaceNamePrefix !== undefined)
    query = query.where('workspace_name', 'like', `${likeText(filter.workspaceNamePrefix)}%`);
  if (filter.tag !== undefined) query = query.where('tags', '@>', sql<string[]>`array[${filter.tag}]`);
  if (!filter.includeSubEnvironments) query = query.where('workflow_environment_id', 'is', null);
  if (filter.search !== undefined) {
    const { text, projectIds } = filter.search;
    query = query.where((eb) => {
      const isPart = eb('search_text', 'like', sql<string>`'%' || lower(${likeText(text)}) || '%'`);
      return projectIds.length === 0 ? isPart : eb.or([isPart, eb('project_id', 'in', [...projectIds])]);
    });
  }
  return query;
}

/**
 * A page of environments, newest first, ties broken by id. The ids of the page are found first, out of an
 * index alone: the rows of the pages before it are not read.
 */
export async function listEnvironmentRows(
  db: Connection,
  filter: EnvironmentFilter,
  page: { limit: number; offset: number },
): Promise<EnvironmentRow[]> {
  if (filter.organizationIds.length === 0) return [];
  const ids = filtered(db, filter)
    .select('environment.id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset);
  return db
    .selectFrom('environment')
    .selectAll('environment')
    .innerJoin(ids.as('page'), 'page.id', 'environment.id')
    .orderBy('environment.created_at', 'desc')
    .orderBy('environment.id', 'desc')
    .execute();
}

/** Tags of an organization's environments, each once. @param projectId only of this project */
export async function listTags(
  db: Connection,
  organizationId: string,
  projectId?: string,
): Promise<string[]> {
  const query = db
    .selectFrom('environment')
    .select(sql<string>`unnest(tags)`.as('tag'))
    .distinct()
    .where('organization_id', '=', organizationId);
  const rows = await (projectId === undefined ? query : query.where('project_id', '=', projectId))
    .orderBy('tag')
    .execute();
  return rows.map((row) => row.tag);
}

export async function countEnvironmentRows(db: Connection, filter: EnvironmentFilter): Promise<number> {
  if (filter.organizationIds.length === 0) return 0;
  const row = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Where an environment lives. */
export const environmentHome = homeById((db, id) =>
  db
    .selectFrom('environment')
    .select(['organization_id', 'project_id'])
    .where('id', '=', id)
    .executeTakeFirst(),
);
