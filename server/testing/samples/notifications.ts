import { randomUUID } from 'node:crypto';
import { inTransaction } from '../../src/ground/database/transaction.ts';
import { getEnvironmentRow } from '../../src/rows/environments/environment-store.ts';
import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app, { id: environmentId }) => {
  const { organizationId, projectId, context } = app;
  // Nothing has this name: a test of the endpoint reaches no receiver.
  const endpoint = { organizationId, type: 'Webhook', value: 'https://hooks.invalid/sample' };
  const { id } = await ok(app, 'createNotificationEndpoint', { body: { ...endpoint, name: randomUUID() } });
  await ok(app, 'assignNotificationEndpoint', {
    params: { projectId, endpointId: id },
    body: { eventNames: ['environmentMarkedForAutoDestroy'] },
  });
  const environment = await getEnvironmentRow(context.db, environmentId);
  if (!environment) throw new Error('The environment of the sample is gone');
  const notice = {
    environment,
    notice: 'markedForAutoDestroy',
    destroyAt: context.now(),
    reason: null,
  } as const;
  await inTransaction(context, (context) => context.react('lifetimeNoticed', notice));
  const { deliveries } = await ok(app, 'listNotificationDeliveries', { query: { organizationId } });
  return {
    ids: { notificationEndpoint: id, notificationDelivery: deliveries[0]?.id ?? randomUUID() },
    bodies: {
      createNotificationEndpoint: { ...endpoint, name: randomUUID() },
      updateNotificationEndpoint: { name: randomUUID() },
    },
  };
};
