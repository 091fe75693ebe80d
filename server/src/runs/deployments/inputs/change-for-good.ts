/** Writes what a deploy request changes for its run and all later ones. */

import type { Updateable } from 'kysely';
import { changesOf } from '../../../framework/audit/changes.ts';
import { recordAudit } from '../../../framework/audit/record.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { applySetChanges, type ProposedBy } from '../../../inputs/configuration-sets/change-assignments.ts';
import { applyVariableChanges } from '../../../inputs/variables/apply-variable-changes.ts';
import { environmentHome } from '../../../inputs/variables/levels.ts';
import type { EnvironmentTable } from '../../../rows/schema.ts';
import { type TemplateRow, updateTemplateSettings } from '../../../rows/templates/template-store.ts';
import type { LastingChanges, StoredFacts } from './start-facts.ts';

/** The columns of the environment that a request changes. */
export function changedColumns({ codeChange, settingsChange }: LastingChanges): Updateable<EnvironmentTable> {
  return { ...settingsChange?.columns, ...codeChange?.columns };
}

/** The facts as they are once the request is carried out; nothing is written. */
export function factsAfter(facts: StoredFacts, { codeChange, settingsChange }: LastingChanges): StoredFacts {
  const { columns: changes = {} } = settingsChange ?? {};
  const { environment: before, template } = facts;
  const environment = {
    ...before,
    name: changes.name ?? before.name,
    requires_approval: changes.requires_approval ?? before.requires_approval,
    approval_lifted_by:
      changes.approval_lifted_by === undefined ? before.approval_lifted_by : changes.approval_lifted_by,
    template_id: codeChange?.columns?.template_id ?? before.template_id,
  };
  return { ...facts, template: codeChange?.template ?? template, environment };
}

/** The source of the code of later runs decides who gets the credentials of these runs. */
async function auditSource(
  context: ActorContext,
  { environment, template }: StoredFacts,
  after: TemplateRow,
  proposed: ProposedBy,
): Promise<void> {
  const view = (of: TemplateRow) => ({
    repository: of.repository,
    revision: of.settings.revision ?? '',
    templateId: of.id,
  });
  const [from, to] = [view(template), view(after)];
  const fields = (['repository', 'revision', 'templateId'] as const).filter((key) => from[key] !== to[key]);
  if (fields.length === 0) return;
  const details = Object.fromEntries(fields.map((field) => [field, { from: from[field], to: to[field] }]));
  await recordAudit(context, {
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    action: 'environment.sourceChanged',
    entityId: environment.id,
    details: { ...details, ...proposed },
    ...changesOf(from, to),
  });
}

/**
 * Sets, variables and the environment's own template. The caller writes the columns of the environment.
 * @param proposed who proposed it, if the caller approves what another one proposed
 */
export async function changeForGood(
  context: ActorContext,
  facts: StoredFacts,
  changes: LastingChanges,
  proposed: ProposedBy = {},
): Promise<void> {
  const { setChanges, codeChange, variableChanges, variableFields } = changes;
  const { environment, hierarchy } = factsAfter(facts, changes);
  const home = environmentHome(environment, hierarchy);
  if (setChanges) await applySetChanges(context, environment, setChanges, proposed);
  await applyVariableChanges(context, home, variableChanges, variableFields, proposed.proposedBy);
  if (!codeChange) return;
  const { template, ownTemplate: own } = codeChange;
  if (own)
    await updateTemplateSettings(context.db, facts.template, own.repository, own.settings, context.now());
  await auditSource(context, facts, template, proposed);
}
