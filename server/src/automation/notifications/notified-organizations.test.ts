import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { openDatabaseProxy } from '../../../testing/database-proxy.ts';
import { startTests } from '../../../testing/start.ts';
import { Events } from '../../framework/events/events.ts';
import { hasAssignments } from './notified-organizations.ts';

const { app, ok } = await startTests();
const { organizationId, projectId, database } = app;
beforeEach(() => database.pool.query('delete from notification_endpoint'));

/** Another server, whose notices come through a proxy. @param askEvery as of `Events.open` */
async function openOther(askEvery: number) {
  const proxy = await openDatabaseProxy(database.address);
  const events = await Events.open({ ...proxy.address, query_timeout: 200 }, undefined, askEvery);
  const context = { ...app.context, events };
  return {
    events,
    proxy,
    hasAssignments: () => hasAssignments(context, organizationId),
    async [Symbol.asyncDispose]() {
      await events[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

async function assign(): Promise<void> {
  const value = 'https://hooks.example.com/in';
  const body = { organizationId, name: app.context.newId(), type: 'Webhook', value };
  const { id: endpointId } = await ok('createNotificationEndpoint', { body });
  await ok('assignNotificationEndpoint', {
    params: { projectId, endpointId },
    body: { eventNames: ['deploySucceeded'] },
  });
}

test('another server knows of a first assignment after a minute, also where its notice was lost', async () => {
  await using other = await openOther(3_600_000);
  assert.equal(await other.hasAssignments(), false);
  other.proxy.silence();
  await assign();
  assert.equal(await other.hasAssignments(), false);
  app.advance(61);
  assert.equal(await other.hasAssignments(), true);
});

test('another server looks again once its connection for notices is replaced', async () => {
  await using other = await openOther(300);
  assert.equal(await other.hasAssignments(), false);
  const replaced = other.events.waitFor('anything', { milliseconds: 30_000 });
  other.proxy.silence();
  await assign();
  await replaced;
  assert.equal(await other.hasAssignments(), true);
});
