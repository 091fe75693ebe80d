import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#contract/client/client.ts';
import { openReceiver } from '../../../testing/receiver.ts';
import { startTests } from '../../../testing/start.ts';
import { startEffects } from '../../framework/effects/carry-out.ts';
import { type EffectKind, promiseEffect } from '../../framework/effects/effect-kind.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { recordChange } from '../../rows/feeds/organization-news-store.ts';

const { app, call, ok } = await startTests({
  ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
  ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
});
const client = createClient({ url: await app.listen(), key: app.admin.id, secret: app.admin.secret });

/** Follows an organization of its own. @returns what tells it something, and waits until it has heard of it */
async function openReader() {
  const { id: organizationId } = await ok('createOrganization', { body: { name: app.context.newId() } });
  const controller = new AbortController();
  const events = client.stream('streamOrganization', {
    params: { id: organizationId },
    signal: controller.signal,
  });
  await events.next();
  const hears = async () => {
    const id = app.context.newId();
    await inTransaction(app.context, (context) =>
      recordChange(context, {
        organizationId,
        projectId: null,
        environmentId: null,
        entity: 'agent',
        id,
      }),
    );
    for (;;) {
      const { value } = await events.next();
      assert.ok(value);
      if ((value.data as { id?: string }).id === id) return;
    }
  };
  return {
    hears,
    async [Symbol.asyncDispose]() {
      controller.abort();
      await events.return(undefined).catch(() => undefined);
    },
  };
}

test('readers of events hear of everything while an effect waits', { timeout: 30_000 }, async () => {
  await using reader = await openReader();
  const begun = Promise.withResolvers<void>();
  const waits: EffectKind<null> = {
    name: 'test.waits',
    carryOut: () => {
      begun.resolve();
      return new Promise(() => undefined);
    },
  };
  await using _ = startEffects(app.context, [waits]);
  await inTransaction(app.context, (context) => promiseEffect(context, waits, null));
  await begun.promise;
  await reader.hears();
});

test('readers of events hear of everything while a test waits for an answer', {
  timeout: 30_000,
}, async () => {
  await using reader = await openReader();
  const receiver = await openReceiver();
  const mayAnswer = Promise.withResolvers<void>();
  receiver.answer = (_, response) => void mayAnswer.promise.then(() => response.end('taken'));
  const { organizationId } = app;
  const value = `${receiver.address}/in`;
  const { id } = await ok('createNotificationEndpoint', {
    body: { organizationId, name: 'waits', type: 'Webhook', value },
  });
  const press = () => call('testNotificationEndpoint', { id, headers: { 'idempotency-key': 'pressed' } });
  const pressed = press();
  await receiver.got(1);
  await reader.hears();
  mayAnswer.resolve();
  assert.equal((await pressed).statusCode, 200);
  const again = await press();
  assert.deepEqual([again.statusCode, again.headers['idempotency-replayed']], [200, undefined]);
  assert.equal(receiver.received.length, 2, 'a repetition sends again, and does not answer for the receiver');
});
