/** SQL of environments. */
import {
  type Expression,
  type Insertable,
  type RawBuilder,
  type Selectable,
  sql,
  type Updateable,
} from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { homeOf, rowById, rowsByIds } from '../row-queries.ts';
import type { EnvironmentTable } from '../schema.ts';

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

/** Locks all environments that use a template, always in the same order. */
export async function lockEnvironmentsOfTemplate(
  tx: Connection,
  templateId: string,
): Promise<LockedEnvironment[]> {
  const rows = await tx
    .selectFrom('environment')
    .selectAll()
    .where('template_id', '=', templateId)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows as LockedEnvironment[];
}

/**
 * Locks the environments of a project that expire, and those for which a condition holds; always in the same order.
 * @param condition about the id of an environment
 */
export async function lockEnding(
  tx: Connection,
  projectId: string,
  condition: (id: Expression<string>) => RawBuilder<boolean>,
): Promise<LockedEnvironment[]> {
  const rows = await tx
    .selectFrom('environment')
    .selectAll()
    .where('project_id', '=', projectId)
    .where((eb) => eb.or([eb('lifespan_end_at', 'is not', null), condition(eb.ref('environment.id'))]))
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows as LockedEnvironment[];
}

/**
 * Locks an environment unless a person or another transaction has locked it, or it is archived.
 */
export async function lockIdleEnvironment(
  tx: Connection,
  id: string,
): Promise<LockedEnvironment | undefined> {
  const row = await tx
    .selectFrom('environment')
    .selectAll()
    .where('id', '=', id)
    .where('is_locked', '=', false)
    .where('is_archived', '=', false)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row as LockedEnvironment | undefined;
}

/**
 * Environments that are neither locked nor archived and for which the time of a notice, or of the end, has come:
 * the most overdue first.
 * @param except ids of environments to leave out
 */
export async function listExpiring(
  db: Connection,
  now: Date,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  const due = db
    .selectFrom('environment')
    .select('id')
    .where('next_ttl_at', '<=', now)
    .where('is_locked', '=', false)
    .where('is_archived', '=', false)
    .orderBy('next_ttl_at')
    .limit(limit);
  const rows = await (except.length === 0 ? due : due.where('id', 'not in', [...except])).execute();
  return rows.map(({ id }) => id);
}

/** When the first notice or end after a time comes. */
export async function nextExpiryAt(db: Connection, after: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('environment')
    .select('next_ttl_at')
    .where('next_ttl_at', '>', after)
    .where('is_locked', '=', false)
    .where('is_archived', '=', false)
    .orderBy('next_ttl_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_ttl_at ?? null;
}

export const getEnvironmentRow = rowById('environment');

export const getEnvironmentRows = rowsByIds('environment');

/** Names and place of an environment. */
export type NamedEnvironment = Pick<EnvironmentRow, 'id' | 'name' | 'organization_id' | 'project_id'>;

/** Environments of projects that have one of some names and are not archived. */
export async function activeEnvironmentsNamed(
  db: Connection,
  projectIds: readonly string[],
  names: readonly string[],
): Promise<EnvironmentRow[]> {
  return db
    .selectFrom('environment')
    .selectAll()
    .where('project_id', '=', sql<string>`any(${projectIds}::uuid[])`)
    .where('name', '=', sql<string>`any(${names}::text[])`)
    .where('is_archived', '=', false)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** The environments of projects, by name. */
export async function environmentsOfProjects(
  db: Connection,
  projectIds: readonly string[],
): Promise<NamedEnvironment[]> {
  return db
    .selectFrom('environment')
    .select(['id', 'name', 'organization_id', 'project_id'])
    .where('project_id', '=', sql<string>`any(${projectIds}::uuid[])`)
    .orderBy('name')
    .orderBy('id')
    .execute();
}

/** Environments in these statuses have nothing in the world, and nothing under way. */
const idleStatuses = ['NEVER_DEPLOYED', 'CREATED', 'INACTIVE'] as const;

/** Whether an environment has no resources, whatever is in progress. */
export function isIdle({
  is_archived,
  resting_status,
}: Pick<EnvironmentRow, 'is_archived' | 'resting_status'>): boolean {
  return is_archived || (idleStatuses as readonly string[]).includes(resting_status);
}

/**
 * Active environments of a project, and those among them that a user has created.
 * @param except id of one that is not counted
 */
export async function countActive(
  db: Connection,
  { projectId, userId, except }: { projectId: string; userId: string; except?: string },
): Promise<{ total: number; ofUser: number }> {
  const query = db
    .selectFrom('environment')
    .select([
      sql<number>`count(*)::integer`.as('total'),
      sql<number>`(count(*) filter (where user_id = ${userId}))::integer`.as('ofUser'),
    ])
    .where('project_id', '=', projectId)
    .where('status', 'not in', [...idleStatuses])
    .where('is_archived', '=', false);
  return (except === undefined ? query : query.where('id', '<>', except)).executeTakeFirstOrThrow();
}

/** Active environments of an organization. */
export async function countActiveIn(db: Connection, organizationId: string): Promise<number> {
  const { total } = await db
    .selectFrom('environment')
    .select(sql<number>`count(*)::integer`.as('total'))
    .where('organization_id', '=', organizationId)
    .where('status', 'not in', [...idleStatuses])
    .where('is_archived', '=', false)
    .executeTakeFirstOrThrow();
  return total;
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

/** Home of an environment. */
export const environmentHome = homeOf('environment', 'project_id', 'id as environment_id');
