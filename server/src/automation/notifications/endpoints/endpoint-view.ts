/** Endpoints as replies and the audit trail have them. */
import type { NotificationEndpoint } from '#contract/notifications/shapes.ts';
import { sealedFingerprint } from '../../../framework/audit/changes.ts';
import type { ActorContext, Context } from '../../../framework/context.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';
import { type EndpointRow, openSecret, openValue } from '../../../rows/notifications/endpoint-store.ts';
import { inOrganization } from '../../../rows/places.ts';
import { getUsers } from '../../../rows/users/user-store.ts';
import { userOf } from '../../../tenancy/users/user-view.ts';
import { endpointProblem } from './check-endpoint.ts';

/** The value is shown to those who may change it: whoever knows an address of Slack or Teams can post there. */
export async function endpointViews(
  context: ActorContext,
  rows: readonly EndpointRow[],
): Promise<NotificationEndpoint[]> {
  const { access } = context.actor;
  const users = await getUsers(
    context.db,
    rows.map((row) => row.created_by),
  );
  return rows.map((row) => {
    const problem = endpointProblem(context.settings, row.type);
    const isShown = access.has('EDIT_ORGANIZATION_SETTINGS', inOrganization(row.organization_id));
    return {
      id: row.id,
      organizationId: row.organization_id,
      name: row.name,
      type: row.type,
      value: isShown ? openValue(context, row) : sensitiveMask,
      hasWebhookSecret: row.sealed_webhook_secret !== null,
      ...(problem === null ? {} : { problem }),
      createdBy: row.created_by,
      createdByUser: userOf(users, row.created_by),
      createdAt: row.created_at.toISOString(),
      updatedAt: row.updated_at.toISOString(),
    };
  });
}

export async function endpointView(context: ActorContext, row: EndpointRow): Promise<NotificationEndpoint> {
  const [view] = await endpointViews(context, [row]);
  if (!view) throw new Error(`Endpoint ${row.id} has no view`);
  return view;
}

/** For the audit trail: secrets as fingerprints. */
export function audited(context: Pick<Context, 'auditKeys' | 'sealer'>, row: EndpointRow) {
  const place = `notification endpoint of ${row.organization_id}`;
  return {
    name: row.name,
    type: row.type,
    value: sealedFingerprint(context, place, () => openValue(context, row)),
    webhookSecret: sealedFingerprint(context, place, () => openSecret(context, row)),
  };
}
