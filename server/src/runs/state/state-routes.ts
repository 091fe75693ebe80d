/** Operations on state versions. Reads are audited, because states contain plain-text secrets. */
import { operations } from '#contract/operations.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordAudit, recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import { type Route, route, streamRoute } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, notFound, orNotFound } from '../../ground/errors.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getStateLock } from '../../rows/state/state-lock-store.ts';
import {
  countStateVersions,
  deleteStateVersions,
  getStateVersion,
  listStateVersions,
  type StateVersionRow,
} from '../../rows/state/state-store.ts';
import { compareVersions } from './compare-versions.ts';
import { importState, readStateBody } from './import-state.ts';
import { freeStateLock } from './lock-state.ts';
import { readStateVersion, requireReadable } from './read-current-state.ts';
import { promoteState, rollBackState } from './roll-back-or-promote.ts';
import { deleteStateAccess, getStateAccess, setStateAccess } from './state-access.ts';
import { requireFreeState } from './state-holder.ts';
import { stateLockView, stateVersionView, stateVersionViews } from './state-view.ts';
import { forgetCurrent } from './write-state.ts';

/**
 * Deletes a rescued version of a state, which a person has checked.
 * @throws Refusal 403 for a withheld one, 404, 409 for a version that is not rescued
 */
async function deleteStateVersion(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const { db } = context;
    const before = await getStateVersion(db, id);
    const environment = before && (await lockEnvironmentRow(db, before.environment_id));
    const version = environment && (await getStateVersion(db, id));
    if (!version || !environment) throw notFound('state version', id);
    await requireReadable(context, version);
    if (version.standing !== 'rescued')
      throw conflict(
        version.standing === 'current'
          ? 'Only a rescued version can be deleted: this one is the current state'
          : 'Only a rescued version can be deleted: superseded ones are removed after ENVARIUM_STATE_VERSION_DAYS',
      );
    await promiseEffect(context, removeBlobs, { ids: await deleteStateVersions(db, [id]) });
    const { deployment_id: deploymentId, serial, lineage, sha256 } = version;
    await recordEnvironmentAudit(context, environment, 'state.versionDeleted', {
      stateVersionId: id,
      ...{ deploymentId, serial, lineage, sha256 },
    });
    return { id };
  });
}

/**
 * Leaves an environment without a current state, at a person's request.
 * All versions are kept, and a roll-back restores one.
 * @returns the version that was current, or null
 * @throws Refusal 404, 409 while the state is held
 */
async function clearState(context: ActorContext, environmentId: string): Promise<string | null> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    await requireFreeState(context.db, environment);
    return forgetCurrent(context, environment);
  });
}

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
