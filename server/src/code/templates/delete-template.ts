/** Deletes a template, or what is stored as one. */
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, orNotFound } from '../../ground/errors.ts';
import { lockTemplate, markTemplateDeleted } from '../../rows/templates/template-store.ts';
import { kindOf } from './template-kinds.ts';

/** The row stays, for the environments that use it and for readers. The right was checked. @throws Refusal 409 */
export async function deleteTemplate(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const locked = orNotFound(await lockTemplate(context.db, id), 'template', id);
    const { row } = locked;
    if (row.is_single_use)
      throw conflict(`Template "${row.name}" belongs to a single environment: delete the environment`);
    if (row.is_deleted) return { id };
    await markTemplateDeleted(context.db, row, context.now());
    await recordAudit(context, {
      organizationId: row.organization_id,
      projectId: row.project_id,
      action: `${kindOf(row.type).entity}.deleted`,
      entityId: id,
      details: { name: row.name, environments: locked.environments.length },
      ...changesOf({ isDeleted: false }, { isDeleted: true }),
    });
    return { id };
  });
}
