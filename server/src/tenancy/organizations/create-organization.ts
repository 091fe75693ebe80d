/** Makes an organization with what it needs to be used. */
import type { Organization } from '#contract/organizations/shapes.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { insertOrganization } from '../../rows/organizations/organization-store.ts';
import { insertProject } from '../../rows/projects/project-store.ts';
import { organizationView } from './organization-view.ts';

/** An organization, its default project, and the caller as its first admin. */
export async function createOrganization(
  context: ActorContext,
  body: { name: string; description?: string; photoUrl?: string },
): Promise<Organization> {
  return inTransaction(context, async (context) => {
    const id = context.newId();
    const { userId } = context.actor;
    const row = await insertOrganization(
      context.db,
      {
        id,
        name: body.name,
        description: body.description ?? null,
        photo_url: body.photoUrl ?? null,
        created_by: userId,
      },
      { userId, role: 'Admin' },
    );
    await insertProject(context.db, context, {
      organizationId: id,
      name: 'Default',
      description: '',
      tags: [],
      parent: null,
    });
    await recordAudit(context, {
      organizationId: id,
      action: 'organization.created',
      entityId: id,
      details: { name: body.name },
      ...changesOf(null, body),
    });
    return organizationView(row, 'Admin');
  });
}
