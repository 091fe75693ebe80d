/** Creates, changes, deletes and assigns cloud credentials. */

import { kindOf } from '#contract/credentials/kinds.ts';
import type { CreateCredentialBody, UpdateCredentialBody } from '#contract/credentials/operations.ts';
import type { Credential, CredentialAssignment } from '#contract/credentials/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { type Changes, changesOf, sealedFingerprint } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { badField, conflict, notFound, orNotFound } from '../../ground/errors.ts';
import { projectsReadBy } from '../../rows/costs/cost-credential-store.ts';
import {
  type CredentialRow,
  deleteAssignment,
  deleteCredentialRow,
  insertAssignment,
  insertCredential,
  lockCredentialRow,
  openValue,
  projectsWith,
  updateCredentialRow,
} from '../../rows/credentials/credential-store.ts';
import { inOrganization, type Place } from '../../rows/places.ts';
import { getProjectRow, getProjectRows, type ProjectRow } from '../../rows/projects/project-store.ts';
import { checkedValue } from './check-value.ts';
import { credentialView } from './credential-view.ts';

const entity = 'credential';

function record(
  context: ActorContext,
  action: string,
  row: CredentialRow,
  { projectId, ...changes }: Changes & { readonly projectId?: string },
) {
  return recordAudit(context, {
    organizationId: row.organization_id,
    projectId: projectId ?? row.project_id,
    action: `credential.${action}`,
    entityId: row.id,
    details: { name: row.name, type: row.type },
    ...changes,
  });
}

function nameTaken(name: string) {
  return conflict(`A credential named "${name}" already exists: choose another name`);
}

/**
 * A credential of the organization concerns all of its projects.
 * @throws Refusal 403
 */
export function requireRightAbout({ actor }: ActorContext, row: CredentialRow, what: string): void {
  if (row.project_id === null)
    requireRight(
      actor,
      inOrganization(row.organization_id),
      'EDIT_ORGANIZATION_SETTINGS',
      `${what} a credential of the organization`,
    );
}

/** @param home of what the request names: the organization, or the project that it will belong to */
export async function createCredential(
  context: ActorContext,
  body: CreateCredentialBody,
  home: Place,
): Promise<Credential> {
  if (body.organizationId !== undefined && body.projectId !== undefined)
    throw badField('body.projectId', 'cannot be specified together with organizationId');
  const { name, type } = body;
  const value = checkedValue(type, body.value);
  const { organizationId } = home;
  const projectId = body.projectId === undefined ? null : (home.projectId ?? null);
  const row = await insertCredential(context.db, context, { organizationId, projectId, name, type, value });
  if (!row) throw nameTaken(name);
  await record(context, 'created', row, changesOf(null, auditedCredential(context, row)));
  return credentialView(context.db, row);
}

/** @throws Refusal 400 where the request moves it to another place */
function requireSamePlace(row: CredentialRow, { organizationId, projectId }: UpdateCredentialBody): void {
  if (organizationId !== undefined && organizationId.toLowerCase() !== row.organization_id)
    throw badField('body.organizationId', 'must be that of the credential');
  if (projectId !== undefined && projectId.toLowerCase() !== row.project_id)
    throw badField(
      'body.projectId',
      'must be that of the credential: create another one for another project',
    );
}

export async function updateCredential(
  context: ActorContext,
  id: string,
  body: UpdateCredentialBody,
): Promise<Credential> {
  const before = orNotFound(await lockCredentialRow(context.db, id), entity, id);
  requireRightAbout(context, before, 'Changing');
  requireSamePlace(before, body);
  const { name, type = before.type } = body;
  if (type !== before.type && body.value === undefined)
    throw badField('body.value', 'is required with another type');
  if (type !== before.type && !kindOf(type).isForRuns && (await projectsWith(context.db, id)).length > 0)
    throw badField('body.type', 'must be one for runs while the credential is assigned to projects');
  if (type !== before.type && kindOf(type).isForRuns && (await projectsReadBy(context.db, id)).length > 0)
    throw badField('body.type', 'must be one for costs while the credential reads costs of projects');
  const value = body.value === undefined ? undefined : checkedValue(type, body.value);
  const row = await updateCredentialRow(context.db, context, id, {
    type,
    ...(name === undefined ? {} : { name }),
    ...(value === undefined ? {} : { value }),
  });
  if (!row) throw nameTaken(name ?? before.name);
  const changes = changesOf(auditedCredential(context, before), auditedCredential(context, row));
  await record(context, 'updated', row, changes);
  return credentialView(context.db, row);
}

/** @throws Refusal 409 while it is assigned */
export async function deleteCredential(context: ActorContext, id: string): Promise<{ id: string }> {
  const row = orNotFound(await lockCredentialRow(context.db, id), entity, id);
  requireRightAbout(context, row, 'Deleting');
  const read = await getProjectRows(context.db, await projectsReadBy(context.db, id));
  const projects = [...(await projectsWith(context.db, id)), ...read];
  if (projects.length > 0) {
    const names = projects.slice(0, 10).map(({ name }) => `"${name}"`);
    const more = projects.length > 10 ? ` and ${projects.length - 10} others` : '';
    throw conflict(
      `The credential "${row.name}" is assigned to ${names.join(', ')}${more}: remove it from there first`,
    );
  }
  await deleteCredentialRow(context.db, id);
  await record(context, 'deleted', row, changesOf(auditedCredential(context, row), null));
  return { id: row.id };
}

/** @throws Refusal 409 for a credential of a project that another project is not below */
export function requireWithin(row: CredentialRow, project: Pick<ProjectRow, 'name' | 'hierarchy'>): void {
  if (row.project_id === null || project.hierarchy.split('|').includes(row.project_id)) return;
  throw conflict(
    `The credential "${row.name}" belongs to another project, which "${project.name}" is not below`,
  );
}

interface AssignmentIds {
  readonly credentialId: string;
  readonly projectId: string;
}

/** @throws Refusal 404 for a credential of another organization, 409 for one that runs of the project cannot get */
export async function assignCredential(
  context: ActorContext,
  { credentialId, projectId }: AssignmentIds,
): Promise<CredentialAssignment> {
  const project = orNotFound(await getProjectRow(context.db, projectId), 'project', projectId);
  const row = await lockCredentialRow(context.db, credentialId);
  if (row?.organization_id !== project.organization_id) throw notFound(entity, credentialId);
  requireRightAbout(context, row, 'Assigning');
  if (!kindOf(row.type).isForRuns)
    throw conflict(
      `The credential "${row.name}" of type ${row.type} is for reading costs: runs cannot use it`,
    );
  requireWithin(row, project);
  const { row: assignment, isNew } = await insertAssignment(context.db, context, row.id, project.id);
  if (isNew)
    await record(context, 'assigned', row, {
      projectId: project.id,
      ...changesOf(null, { projectId: project.id }),
    });
  return {
    id: assignment.id,
    credentialId: assignment.credential_id,
    projectId: assignment.project_id,
    createdByUserId: assignment.created_by,
  };
}

/** @throws Refusal 404 where it is not assigned to this very project */
export async function unassignCredential(
  context: ActorContext,
  { credentialId, projectId }: AssignmentIds,
): Promise<AssignmentIds> {
  const project = orNotFound(await getProjectRow(context.db, projectId), 'project', projectId);
  const row = await lockCredentialRow(context.db, credentialId);
  if (row?.organization_id !== project.organization_id) throw notFound(entity, credentialId);
  if (!(await deleteAssignment(context.db, row.id, project.id)))
    throw notFound(`assignment of the credential "${row.name}" to the project "${project.name}"`, row.id);
  await record(context, 'unassigned', row, {
    projectId: project.id,
    ...changesOf({ projectId: project.id }, null),
  });
  return { credentialId: row.id, projectId: project.id };
}

/** For the audit trail. */
function auditedCredential(context: Pick<Context, 'sealer' | 'auditKeys'>, row: CredentialRow) {
  const { name, type, project_id: projectId } = row;
  const place = `credential of ${row.organization_id}`;
  const value = sealedFingerprint(context, place, () => JSON.stringify(openValue(context, row)));
  return { name, type, projectId, value };
}
