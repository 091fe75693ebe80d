/**
 * Moves an environment to another project of its organization, with its state, its history and what is its
 * own.
 */

import type { Environment } from '#contract/environments/shapes.ts';
import { isAssigned } from '../../code/templates/use-template.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict } from '../../ground/errors.ts';
import { refuseLeavingSetsOf } from '../../inputs/configuration-sets/leave-project.ts';
import { moveDeploymentsToProject, openDeployments } from '../../rows/deployments/deployment-store.ts';
import {
  type EnvironmentRow,
  isIdle,
  updateEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import { inProject } from '../../rows/places.ts';
import { holdProjectRow, type ProjectRow } from '../../rows/projects/project-store.ts';
import { getTemplateRow, moveTemplateToProject } from '../../rows/templates/template-store.ts';
import { moveVariablesToProject } from '../../rows/variables/variable-store.ts';
import { checkEnvironmentLimits } from '../../tenancy/project-policies/environment-limits.ts';
import { readPolicySettings } from '../../tenancy/project-policies/policy-settings.ts';
import { demandsOnEnvironment, requireKept } from '../deployments/requests/kept-demands.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { environmentView } from './environment-view.ts';
import { removeEnds } from './follow-policy.ts';

async function targetOf(tx: Connection, environment: EnvironmentRow, projectId: string): Promise<ProjectRow> {
  const target = await holdProjectRow(tx, projectId);
  if (target?.organization_id !== environment.organization_id || target.is_testing)
    throw badField('body.projectId', 'does not match a project of this organization');
  if (target.is_archived)
    throw badField('body.projectId', `refers to "${target.name}", which is archived: restore it first`);
  return target;
}

/** A template of its own goes along; a shared one has to be where the environment goes. */
async function moveTemplate(
  context: ActorContext,
  environment: EnvironmentRow,
  target: ProjectRow,
): Promise<void> {
  const template = await getTemplateRow(context.db, environment.template_id);
  if (!template) throw new Error(`Environment ${environment.id} has no template`);
  if (!template.is_single_use && !isAssigned(template, target.id))
    throw badField(
      'body.projectId',
      `refers to "${target.name}", to which template "${template.name}" is not assigned: assign it first`,
    );
  if (!template.is_single_use) return;
  await moveTemplateToProject(context.db, template.id, target.id, context.now());
}

async function checkIdle(tx: Connection, environment: EnvironmentRow): Promise<void> {
  const [open] = await openDeployments(tx, environment.id);
  if (!open) return;
  throw conflict(
    `Environment "${environment.name}" has a ${open.type} that is ${open.status}: let it end, cancel or abort it before moving the environment`,
  );
}

/** The right was checked on the environment. Moved to where it is, nothing happens. */
export async function moveEnvironment(
  context: ActorContext,
  id: string,
  projectId: string,
): Promise<Environment> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const target = await targetOf(context.db, environment, projectId);
    if (target.id === environment.project_id) return environmentView(context, environment);
    const policy = await readPolicySettings(context.db, target.id);
    requireRight(context.actor, inProject(target), 'MOVE_ENVIRONMENTS', '/body/projectId');
    await checkIdle(context.db, environment);
    const demands = await demandsOnEnvironment(context, environment);
    await refuseLeavingSetsOf(context, environment, target);
    if (!isIdle(environment)) await checkEnvironmentLimits(context, environment, target.id, policy);
    await moveTemplate(context, environment, target);
    await moveDeploymentsToProject(context.db, id, target.id);
    await moveVariablesToProject(context.db, id, target.id);
    const moved = await updateEnvironmentRow(context.db, environment, {
      project_id: target.id,
      updated_at: context.now(),
    });
    const there = await demandsOnEnvironment(context, moved);
    await requireKept(context, demands, there, 'Moving the environment away from what demands approvals');
    if (policy.disableDestroyEnvironments) await removeEnds(context, moved);
    const from = environment.project_id;
    const changes = changesOf({ projectId: from }, { projectId: target.id });
    await recordEnvironmentAudit(context, moved, 'environment.moved', { from, to: target.id }, changes);
    await recordEnvironmentEvent(context, moved, 'moved', { fromProjectId: from });
    return environmentView(context, moved);
  });
}
