/** Gives an environment another template, or makes a template that others can use out of its own. */

import type { SetEnvironmentTemplateBody } from '#contract/environments/operations.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { nameTaken } from '../../code/templates/create-template.ts';
import { auditedTemplate } from '../../code/templates/template-view.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit, recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict } from '../../ground/errors.ts';
import {
  type EnvironmentRow,
  type LockedEnvironment,
  updateEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import { inEnvironment, inOrganization } from '../../rows/places.ts';
import { getTemplateRow, shareTemplate } from '../../rows/templates/template-store.ts';
import { changedColumns, changeForGood } from '../deployments/inputs/change-for-good.ts';
import { loadStartFacts, noChanges } from '../deployments/inputs/start-facts.ts';
import { readSource } from '../deployments/requests/read-source.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { environmentView } from './environment-view.ts';

/** The environment's own template becomes one of its project, under a name; the environment uses it as before. */
async function saveAsTemplate(
  context: ActorContext,
  environment: LockedEnvironment,
  name: string,
): Promise<EnvironmentRow> {
  const { organization_id: organizationId, project_id: projectId } = environment;
  const place = { ...inOrganization(organizationId), projectId };
  requireRight(context.actor, place, 'CREATE_AND_EDIT_TEMPLATES', '/body/newName, in the project,');
  const own = await getTemplateRow(context.db, environment.template_id);
  if (!own?.is_single_use)
    throw conflict(
      `Environment "${environment.name}" already uses the template "${own?.name}", which others can use: create another one (POST /blueprints)`,
    );
  const row = await shareTemplate(context.db, own, name, context.now());
  if (!row) throw nameTaken({ name, type: own.type });
  await recordAudit(context, {
    organizationId,
    projectId,
    action: 'template.created',
    entityId: row.id,
    details: { name, fromEnvironment: environment.id },
    ...changesOf(null, auditedTemplate(context, row)),
  });
  return updateEnvironmentRow(context.db, environment, {
    is_single_use_template: false,
    updated_at: context.now(),
  });
}

/** The next deployment runs the code of another template. @returns null where it is the template already */
async function changeTemplate(
  context: ActorContext,
  environment: LockedEnvironment,
  blueprintId: string,
): Promise<EnvironmentRow | null> {
  requireRight(context.actor, inEnvironment(environment), 'RUN_APPLY', '/body/blueprintId');
  const facts = await loadStartFacts(context, environment, 'deploy');
  const [open] = facts.open;
  if (open)
    throw conflict(
      `The template cannot change while the ${open.type} ${open.id} is ${open.status}: wait for its end, or cancel it first`,
    );
  const { codeChange } = await readSource(context, facts, { deploymentType: 'deploy', blueprintId });
  if (!codeChange) return null;
  const change = { ...noChanges, codeChange };
  await changeForGood(context, facts, change);
  const columns = { ...changedColumns(change), updated_at: context.now() };
  return updateEnvironmentRow(context.db, environment, columns);
}

/** The right to change settings was checked. @throws Refusal 400, 403 or 409 before anything is written */
export async function setEnvironmentTemplate(
  context: ActorContext,
  id: string,
  { newName, blueprintId }: SetEnvironmentTemplateBody,
): Promise<Environment> {
  if ((newName === undefined) === (blueprintId === undefined))
    throw badField(
      'body.newName',
      'or /body/blueprintId is required, and not both: a name for the template of the environment, or another template',
    );
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const updated =
      newName === undefined
        ? await changeTemplate(context, environment, blueprintId ?? '')
        : await saveAsTemplate(context, environment, newName);
    if (updated === null) return environmentView(context, environment);
    const details = { fields: [newName === undefined ? 'blueprintId' : 'newName'] };
    await recordEnvironmentAudit(context, updated, 'environment.updated', details);
    await recordEnvironmentEvent(context, updated, 'updated');
    return environmentView(context, updated);
  });
}
