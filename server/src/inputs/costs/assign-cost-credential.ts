/** Says which credentials read the costs of a project. */

import type { CostCredential } from '#contract/costs/shapes.ts';
import { credentialTypes, kindOf } from '#contract/credentials/kinds.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { badField, notFound, unknownEntity } from '../../ground/errors.ts';
import {
  deleteCostCredential,
  insertCostCredential,
  listCostCredentialRows,
} from '../../rows/costs/cost-credential-store.ts';
import {
  type CredentialRow,
  getCredentialRows,
  lockCredentialRow,
} from '../../rows/credentials/credential-store.ts';
import type { ProjectRow } from '../../rows/projects/project-store.ts';
import { requireRightAbout, requireWithin } from '../credentials/change-credential.ts';
import { requireProject } from './require-project.ts';

const costTypes = credentialTypes.filter((type) => !kindOf(type).isForRuns).join(', ');

function record(
  context: ActorContext,
  action: 'assignedForCosts' | 'unassignedForCosts',
  project: ProjectRow,
  { id, name, type }: CredentialRow,
): Promise<void> {
  const assignment = { projectId: project.id };
  return recordAudit(context, {
    organizationId: project.organization_id,
    projectId: project.id,
    action: `credential.${action}`,
    entityId: id,
    details: { name, type },
    ...(action === 'assignedForCosts' ? changesOf(null, assignment) : changesOf(assignment, null)),
  });
}

/** @returns those of the project itself */
export async function listCostCredentials(db: Connection, projectId: string): Promise<CostCredential[]> {
  const rows = await listCostCredentialRows(db, projectId);
  const credentials = await getCredentialRows(
    db,
    rows.map((row) => row.credential_id),
  );
  const types = new Map(credentials.map(({ id, type }) => [id, type]));
  return rows.flatMap(({ project_id: projectId, credential_id: credentialsId }) => {
    const credentialsType = types.get(credentialsId);
    return credentialsType === undefined ? [] : [{ projectId, credentialsId, credentialsType }];
  });
}

/**
 * @throws Refusal 400 for a credential that is unknown, of another organization or of a type for runs; 403 without the
 * right about a credential of the organization; 409 for one of a project that this one is not below
 */
export async function assignCostCredential(
  context: ActorContext,
  projectId: string,
  credentialsId: string,
): Promise<CostCredential> {
  const project = await requireProject(context, projectId);
  const row = await lockCredentialRow(context.db, credentialsId);
  if (row?.organization_id !== project.organization_id)
    throw unknownEntity('body.credentialsId', 'credential');
  requireRightAbout(context, row, 'Assigning');
  if (kindOf(row.type).isForRuns)
    throw badField(
      'body.credentialsId',
      `names the credential "${row.name}" of type ${row.type}, which is for runs: costs are read with ${costTypes}`,
    );
  requireWithin(row, project);
  if (await insertCostCredential(context.db, context, project.id, row.id))
    await record(context, 'assignedForCosts', project, row);
  return { projectId: project.id, credentialsId: row.id, credentialsType: row.type };
}

/** @throws Refusal 404 where it is not assigned to this very project */
export async function unassignCostCredential(
  context: ActorContext,
  projectId: string,
  credentialsId: string,
): Promise<{ projectId: string; credentialsId: string }> {
  const project = await requireProject(context, projectId);
  const row = await lockCredentialRow(context.db, credentialsId);
  if (row?.organization_id !== project.organization_id) throw notFound('credential', credentialsId);
  if (!(await deleteCostCredential(context.db, project.id, row.id)))
    throw notFound(`credential for the costs of the project "${project.name}"`, row.id);
  await record(context, 'unassignedForCosts', project, row);
  return { projectId: project.id, credentialsId: row.id };
}
