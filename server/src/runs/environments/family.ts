/** Environments. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { pickFields } from '../../framework/http/replies/pick-fields.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import {
  environmentHome,
  getEnvironmentRow,
  listTags,
  lockEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { destroyEnvironment } from '../deployments/deploy-environment.ts';
import { countEnvironments, countStatuses } from './count-environments.ts';
import { createEnvironmentFromTemplate, createEnvironmentWithoutTemplate } from './create-environment.ts';
import { deleteEnvironment } from './delete-environment.ts';
import { environmentView } from './environment-view.ts';
import { followPolicy } from './follow-policy.ts';
import { listEnvironments } from './list-environments.ts';
import { moveEnvironment } from './move-environment.ts';
import { setEnvironmentLock } from './set-environment-lock.ts';
import { setEnvironmentTemplate } from './set-environment-template.ts';
import { updateEnvironment } from './update-environment.ts';
import { updateTtl } from './update-ttl.ts';

const environmentRoutes: Route[] = [
  route(operations.updateEnvironmentTtl, (context, { params, body }) => updateTtl(context, params.id, body)),
  route(operations.setEnvironmentTemplate, (context, { params, body }) =>
    setEnvironmentTemplate(context, params.id, body),
  ),
  route(operations.moveEnvironment, (context, { params, body }) =>
    moveEnvironment(context, params.id, body.projectId),
  ),
  route(operations.listEnvironmentTags, (context, { query, home }) =>
    listTags(context.db, home?.organizationId ?? query.organizationId ?? '', query.projectId),
  ),
  route(operations.listEnvironments, async (context, { query }, { reply }) => {
    const { environments, total } = await listEnvironments(context, query);
    reply.header('x-total-count', String(total));
    return environments;
  }),
  route(operations.createEnvironment, (context, { body, home }) =>
    createEnvironmentFromTemplate(context, body, home?.organizationId ?? ''),
  ),
  route(operations.createEnvironmentWithoutTemplate, (context, { body }) =>
    createEnvironmentWithoutTemplate(context, body),
  ),
  route(operations.countEnvironments, (context, { query }) => countEnvironments(context, query)),
  route(operations.countEnvironmentStatuses, (context, { query }) =>
    countStatuses(context, query.organizationId),
  ),
  route(operations.getEnvironment, async (context, { params, query }) => {
    const row = orNotFound(await getEnvironmentRow(context.db, params.id), 'environment', params.id);
    return pickFields(await environmentView(context, row), query.fields);
  }),
  route(operations.updateEnvironment, (context, { params, body }) =>
    updateEnvironment(context, params.id, body),
  ),
  route(operations.deleteEnvironment, (context, { params }) => deleteEnvironment(context, params.id)),
  route(operations.destroyEnvironment, (context, { params, query, body }) =>
    destroyEnvironment(context, params.id, { ...query, ...body }),
  ),
  route(operations.setEnvironmentLock, async (context, { params, body }) => {
    const row = await setEnvironmentLock(context, params.id, body);
    // Users who repeat it do not take it over.
    const updatedBy = row.locked_by ?? context.actor.userId;
    const users = await getUsers(context.db, [updatedBy]);
    return {
      isLocked: row.is_locked,
      updatedBy,
      updatedByUser: userOf(users, updatedBy),
      updatedAt: (row.locked_at ?? context.now()).toISOString(),
      ...(row.lock_reason ? { reason: row.lock_reason } : {}),
    };
  }),
];

export const family: Family = {
  name: 'environments',
  routes: environmentRoutes,
  entities: { environment: environmentHome },
  reactions: { policyChanging: [followPolicy] },
  locks: { environment: lockEnvironmentRow },
  tables: ['environment', 'environment_count'],
};
