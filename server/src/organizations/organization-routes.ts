/** Operations on organizations. */
import type { Selectable } from 'kysely';
import type { Organization } from '#contract/organizations.ts';
import { operations } from '#contract/operations.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import type { OrganizationTable } from '../database/schema.ts';
import { inTransaction } from '../database/transaction.ts';
import { notFound } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { insertProject } from '../projects/project-store.ts';

function view(row: Selectable<OrganizationTable>, role: string): Organization {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    ...(row.description ? { description: row.description } : {}),
    ...(row.photo_url ? { photoUrl: row.photo_url } : {}),
    createdBy: row.created_by,
    maxTtl: row.max_ttl,
    defaultTtl: row.default_ttl,
    role,
    isSelfHosted: true,
    isSelfHostedK8s: false,
    mode: 'paying',
    doNotReportSkippedStatusChecks: false,
    doNotConsiderMergeCommitsForPrPlans: false,
    enableOidc: false,
    enforcePrCommenterPermissions: false,
    allowMergeableBypassForPrApply: false,
    projectCustomFlowsPolicy: 'OVERRIDE_TEMPLATES',
  };
}

/** An organization, its default project, and the caller as its first admin. */
export async function createOrganization(context: ActorContext, body: { name: string; description?: string; photoUrl?: string }): Promise<Organization> {
  return inTransaction(context.db, async (tx) => {
    const id = context.newId();
    const row = await tx
      .insertInto('organization')
      .values({ id, name: body.name, description: body.description ?? null, photo_url: body.photoUrl ?? null, created_by: context.actor.userId })
      .returningAll()
      .executeTakeFirstOrThrow();
    await tx.insertInto('organization_member').values({ organization_id: id, user_id: context.actor.userId, role: 'Admin' }).execute();
    await insertProject(tx, context, { organizationId: id, name: 'Default', description: '', tags: [], parent: null });
    await recordAudit(tx, context, { organizationId: id, action: 'organization.created', entity: 'organization', entityId: id, details: { name: body.name } });
    return view(row, 'Admin');
  });
}

export const organizationRoutes: Route[] = [
  route(operations.listOrganizations, async (context) => {
    const ids = [...context.actor.roles.keys()];
    if (ids.length === 0) return [];
    const rows = await context.db.selectFrom('organization').selectAll().where('id', 'in', ids).orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
    return rows.map((row) => view(row, context.actor.roles.get(row.id) ?? ''));
  }),
  route(operations.createOrganization, (context, { body }) => createOrganization(context, body)),
  route(operations.getOrganization, async (context, { params }) => {
    const row = await context.db.selectFrom('organization').selectAll().where('id', '=', params.id).executeTakeFirst();
    if (!row) throw notFound('organization', params.id);
    return view(row, context.actor.roles.get(row.id) ?? '');
  }),
];
