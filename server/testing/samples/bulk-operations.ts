import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app, environment) => {
  const body = { environmentIds: [environment.id] };
  const { id } = await ok(app, 'bulkUnlock', { body: { ...body, organizationId: app.organizationId } });
  return {
    ids: { bulkOperation: id },
    bodies: {
      bulkDeploy: body,
      bulkDestroy: body,
      bulkRunTask: { ...body, data: { taskPayload: 'true' } },
      bulkApprove: body,
      bulkCancel: body,
      bulkCancelQueued: body,
      bulkLock: body,
      bulkUnlock: body,
      bulkArchive: body,
    },
  };
};
