/** Operations on state versions. Reads are audited, because states contain plain-text secrets. */
import { operations } from '#contract/operations.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { Context } from '../../framework/context.ts';
import { type Route, route, streamRoute } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import { getStateLock } from '../../rows/state/state-lock-store.ts';
import {
  countStateVersions,
  getStateVersion,
  listStateVersions,
  type StateVersionRow,
} from '../../rows/state/state-store.ts';
import { clearState } from './clear-state.ts';
import { compareVersions } from './compare-versions.ts';
import { deleteStateVersion } from './delete-version.ts';
import { importState, readStateBody } from './import-state.ts';
import { freeStateLock } from './lock-state.ts';
import { readStateVersion } from './read-current-state.ts';
import { promoteState, rollBackState } from './roll-back-or-promote.ts';
import { deleteStateAccess, getStateAccess, setStateAccess } from './state-access.ts';
import { stateLockView, stateVersionView, stateVersionViews } from './state-view.ts';

const defaultPage = 100;

async function found(context: Context, id: string): Promise<StateVersionRow> {
  return orNotFound(await getStateVersion(context.db, id), 'state version', id);
}

export const stateRoutes: Route[] = [
  route(operations.listStateVersions, async (context, { params, query }, { reply }) => {
    reply.header('x-total-count', String(await countStateVersions(context.db, params.id)));
    const page = { limit: query.limit ?? defaultPage, offset: query.offset ?? 0 };
    return stateVersionViews(context.db, await listStateVersions(context.db, params.id, page));
  }),
  route(operations.getStateVersion, async (context, { params }) =>
    stateVersionView(context.db, await found(context, params.id)),
  ),
  streamRoute(operations.getStateContent, async (context, { params, home }, { reply }) => {
    const row = await found(context, params.id);
    const content = await readStateVersion(context, row);
    await recordAudit(context, {
      organizationId: home?.organizationId ?? null,
      action: 'state.read',
      entity: 'stateVersion',
      entityId: row.id,
    });
    reply
      .type('application/octet-stream')
      .header('content-disposition', `attachment; filename="${row.id}.tfstate"`)
      .header('x-content-type-options', 'nosniff');
    await reply.send(content);
  }),
  route(operations.importState, async (context, { params, query }, { request }) => {
    const bytes = await readStateBody(
      context,
      request.body as AsyncIterable<Buffer> | undefined,
      request.headers,
    );
    return stateVersionView(context.db, await importState(context, params.id, bytes, query));
  }),
  route(operations.clearState, async (context, { params }) => {
    const previous = await clearState(context, params.id);
    return { id: params.id, ...(previous === null ? {} : { previous }) };
  }),
  route(operations.compareStateVersions, (context, { params, query }) =>
    compareVersions(context, params.id, query.with),
  ),
  route(operations.rollBackState, async (context, { params, body }) =>
    stateVersionView(context.db, await rollBackState(context, params.id, body.comment)),
  ),
  route(operations.promoteStateVersion, async (context, { params, body }) =>
    stateVersionView(context.db, await promoteState(context, params.id, body)),
  ),
  route(operations.deleteStateVersion, (context, { params }) => deleteStateVersion(context, params.id)),
  route(operations.getStateLock, async (context, { params }) => {
    const lock = await getStateLock(context.db, params.id);
    return lock ? stateLockView(context.db, lock) : null;
  }),
  route(operations.freeStateLock, async (context, { params, body }) =>
    stateLockView(context.db, await freeStateLock(context, params.id, body)),
  ),
  route(operations.getStateAccess, (context, { params }) => getStateAccess(context.db, params.environmentId)),
  route(operations.setStateAccess, (context, { params, body }) =>
    setStateAccess(context, params.environmentId, body),
  ),
  route(operations.deleteStateAccess, (context, { params }) =>
    deleteStateAccess(context, params.environmentId),
  ),
];
