/** Operations on state versions. Reading one is a matter of record: it holds secrets in clear. */
import { operations } from '#contract/operations.ts';
import type { StateVersion } from '#contract/state.ts';
import { recordAudit } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { notFound } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { readStateContent } from './read-current-state.ts';
import { getStateVersion, listStateVersions, type StateVersionRow } from './state-store.ts';

const defaultPage = 100;

function view(row: StateVersionRow): StateVersion {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    environmentId: row.environment_id,
    ...(row.deployment_id ? { deploymentLogId: row.deployment_id } : {}),
    serial: row.serial,
    lineage: row.lineage,
    sha256: row.sha256,
    bytes: row.bytes,
    ...(row.follows_id ? { follows: row.follows_id } : {}),
    standing: row.standing as StateVersion['standing'],
    ...(row.resource_count === null ? {} : { resourceCount: row.resource_count }),
  };
}

async function found(context: Context, id: string): Promise<StateVersionRow> {
  const row = await getStateVersion(context.db, id);
  if (!row) throw notFound('state version', id);
  return row;
}

export const stateRoutes: Route[] = [
  route(operations.listStateVersions, async (context, { params, query }, { reply }) => {
    const rows = await listStateVersions(context.db, params.id);
    reply.header('x-total-count', String(rows.length));
    const offset = query.offset ?? 0;
    return rows.slice(offset, offset + (query.limit ?? defaultPage)).map(view);
  }),
  route(operations.getStateVersion, async (context, { params }) => view(await found(context, params.id))),
  route(operations.getStateContent, async (context, { params, home }, { reply }) => {
    const row = await found(context, params.id);
    await recordAudit(context.db, context, {
      organizationId: home?.organizationId ?? null,
      action: 'state.read',
      entity: 'stateVersion',
      entityId: row.id,
    });
    reply
      .type('application/octet-stream')
      .header('content-disposition', `attachment; filename="${row.id}.tfstate"`)
      .header('x-content-type-options', 'nosniff');
    await reply.send(readStateContent(context, row));
    return undefined as never;
  }),
];
