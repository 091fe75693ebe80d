/** SQL of cloud credentials and of their assignments to projects; a value is opened for runs and tests only. */
import { type Selectable, sql } from 'kysely';
import type { CredentialType, CredentialValue } from '#contract/credentials/kinds.ts';
import type { ActorContext, Connection, Context } from '../../framework/context.ts';
import { unlessTaken } from '../../ground/database/unless-taken.ts';
import type { ProjectPlace } from '../projects/project-store.ts';
import { deleteById, homeOf, lockById, rowById, rowsByIds, rowsOfOrganization } from '../row-queries.ts';
import type { CredentialAssignmentTable, CredentialTable } from '../schema.ts';

export type CredentialRow = Selectable<CredentialTable>;
export type CredentialAssignmentRow = Selectable<CredentialAssignmentTable>;

function association(id: string) {
  return { table: 'credential', row: id, field: 'sealed_value' };
}

export interface NewCredential {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly name: string;
  readonly type: CredentialType;
  readonly value: CredentialValue;
}

/** @returns the row, or undefined where the organization already has a credential of that name */
export async function insertCredential(
  tx: Connection,
  context: ActorContext,
  credential: NewCredential,
): Promise<CredentialRow | undefined> {
  const [id, now] = [context.newId(), context.now()];
  return tx
    .insertInto('credential')
    .values({
      id,
      organization_id: credential.organizationId,
      project_id: credential.projectId,
      name: credential.name,
      type: credential.type,
      sealed_value: context.sealer.seal(JSON.stringify(credential.value), association(id)),
      created_by: context.actor.userId,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * Omitted fields are unchanged.
 * @returns the row, or undefined where the organization has another credential of that name
 */
export async function updateCredentialRow(
  tx: Connection,
  context: ActorContext,
  id: string,
  { name, type, value }: Partial<Pick<NewCredential, 'name' | 'type' | 'value'>>,
): Promise<CredentialRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('credential')
      .set({
        updated_at: context.now(),
        ...(name === undefined ? {} : { name }),
        ...(type === undefined ? {} : { type }),
        ...(value === undefined
          ? {}
          : { sealed_value: context.sealer.seal(JSON.stringify(value), association(id)) }),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

export const listCredentialRows = rowsOfOrganization('credential');

export const getCredentialRow = rowById('credential');

export const getCredentialRows = rowsByIds('credential');

/** The credential, locked until the transaction ends, also against assignments. */
export const lockCredentialRow = lockById('credential');

export const deleteCredentialRow = deleteById('credential');

/** Home of a credential. */
export const credentialHome = homeOf('credential', 'project_id');

/** @throws SealError when it cannot be opened */
export function openValue({ sealer }: Pick<Context, 'sealer'>, row: CredentialRow): CredentialValue {
  return JSON.parse(sealer.open(row.sealed_value, association(row.id)).toString('utf8')) as CredentialValue;
}

/** @returns the assignment, and whether it is a new one */
export async function insertAssignment(
  tx: Connection,
  context: ActorContext,
  credentialId: string,
  projectId: string,
): Promise<{ readonly row: CredentialAssignmentRow; readonly isNew: boolean }> {
  const row = await tx
    .insertInto('credential_assignment')
    .values({
      id: context.newId(),
      credential_id: credentialId,
      project_id: projectId,
      created_by: context.actor.userId,
      created_at: context.now(),
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'credential_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row) return { row, isNew: true };
  const known = await tx
    .selectFrom('credential_assignment')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow();
  return { row: known, isNew: false };
}

/** @returns whether there was one */
export async function deleteAssignment(
  tx: Connection,
  credentialId: string,
  projectId: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('credential_assignment')
    .where('credential_id', '=', credentialId)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The projects that a credential is assigned to, by name. */
export async function projectsWith(
  db: Connection,
  credentialId: string,
): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('credential_assignment')
    .innerJoin('project', 'project.id', 'credential_assignment.project_id')
    .select(['project.id', 'project.name'])
    .where('credential_id', '=', credentialId)
    .orderBy('project.name')
    .orderBy('project.id')
    .execute();
}

/** The ids of the credentials that are assigned to a project itself, newest assignment first. */
export async function assignedTo(db: Connection, projectId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('credential_assignment')
    .select('credential_id')
    .where('project_id', '=', projectId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => row.credential_id);
}

/** A credential, and the project that it is assigned to. */
export interface AssignedCredential extends CredentialRow {
  readonly assigned_to: string;
}

/** Facts about the credentials of the runs of a project. */
export interface RunCredentialRows {
  /**
   * Assignments to the project and to those above it: the nearest first, the newest first in each. A credential
   * of a project counts only in that one and below, wherever projects have been moved since.
   */
  readonly rows: readonly AssignedCredential[];
  /** Of the project. */
  readonly hierarchy: string;
  /** Whether the organization wants its runs to have a token. */
  readonly isOidcEnabled: boolean;
}

type Joined = { readonly own_path: string; readonly is_oidc: boolean } & (
  | AssignedCredential
  | { readonly id: null }
);

/** One statement: each run has to wait for it. */
export async function runCredentialRows(
  db: Connection,
  { organizationId, projectId }: ProjectPlace,
): Promise<RunCredentialRows> {
  const { rows } = await sql<Joined>`
    select own.hierarchy as own_path, o.enable_oidc as is_oidc, assigned.*
    from project own join organization o on o.id = own.organization_id
    left join lateral (
      select c.*, a.project_id as assigned_to, step.place, a.created_at as assigned_at, a.id as assignment_id
      from unnest(string_to_array(own.hierarchy, '|')::uuid[]) with ordinality as step (id, place)
      join credential_assignment a on a.project_id = step.id
      join credential c on c.id = a.credential_id and c.organization_id = own.organization_id
      where c.project_id is null or c.project_id = any(string_to_array(own.hierarchy, '|')::uuid[])
    ) assigned on true
    where own.id = ${projectId} and own.organization_id = ${organizationId}
    order by assigned.place desc, assigned.assigned_at desc, assigned.assignment_id desc`.execute(db);
  return {
    rows: rows.filter((row) => row.id !== null),
    hierarchy: rows[0]?.own_path ?? projectId,
    isOidcEnabled: rows[0]?.is_oidc ?? false,
  };
}
