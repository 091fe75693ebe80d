/** Notifications from the command line, against a real service. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { NotificationDelivery, NotificationDeliveryDetails } from '#contract/notifications/shapes.ts';
import { commandLine } from '../command-line.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const service = await joinOneService();

describe('notifications from the command line', () => {
  let receiver: Server;
  let isTaken = true;
  let file: string;

  const { envarium, good } = commandLine(() => service);

  before(async () => {
    receiver = createServer((_, response) => {
      response.statusCode = isTaken ? 200 : 503;
      response.end('\u001b[31mhello');
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    file = join(service.folder, 'address');
    await writeFile(file, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in/hidden\n`);
  });
  after(() => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  test('an endpoint is stored from a file, listed, tested and changed', async () => {
    await good`notifications endpoints create ${'on call'} --type Webhook --value-file ${file}`;
    assert.match(await good`notifications endpoints list`, /on call +Webhook/);
    const tested = await good`notifications test ${'on call'}`;
    assert.match(tested, /Result: +taken[^]*Answer: +200/);
    assert.ok(!tested.includes('\u001b'), 'control characters of the receiver are not printed');
    isTaken = false;
    const failed = await envarium`notifications test ${'on call'}`;
    assert.deepEqual([failed.status, /status 503/.test(failed.stdout)], [1, true], failed.stdout);
    isTaken = true;
    assert.match(await good`notifications endpoints show ${'on call'}`, /Type: +Webhook/);
    await good`notifications endpoints update ${'on call'} --name operations`;
    const wrong = await envarium`notifications endpoints create x --type Webhook --value https://10.0.0.1/`;
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /private or local network/);
  });

  test('events are assigned, deliveries are listed, shown and sent again', async () => {
    const { organizationId, projectId } = service.home;
    const wrong = await envarium`notifications assign operations --project Default --event deployStarted`;
    assert.match(wrong.stderr, /--event deployStarted does not exist: use environmentDeployStarted/);
    assert.match(
      (await envarium`notifications assign operations --project Default`).stderr,
      /one of --event, --all/,
    );
    await good`notifications assign operations --project Default --event environmentDeployStarted`;
    assert.match(
      await good`notifications assignments --project Default`,
      /operations +environmentDeployStarted/,
    );
    const { path: repository } = await makeRepository(service.folder, 'network', { 'main.tf': '' });
    const body = { name: 'network', organizationId, projectId, repository, type: 'opentofu' } as const;
    await service.client.call('createEnvironmentWithoutTemplate', { body });
    const list = async () =>
      (JSON.parse(await good`notifications deliveries --json`) as { deliveries: NotificationDelivery[] })
        .deliveries;
    const [delivery] = await list();
    const id = delivery?.id ?? '';
    assert.equal(delivery?.environmentName, 'network');
    assert.match(
      await good`notifications deliveries --project Default`,
      /operations +environmentDeployStarted +network/,
    );
    assert.match(await good`notifications resend ${id}`, /is sent to operations again/);
    const show = async () =>
      JSON.parse(await good`notifications delivery ${id} --json`) as NotificationDeliveryDetails;
    let shown = await show();
    while (shown.status === 'waiting') shown = await show();
    assert.equal(shown.status, 'delivered');
    assert.match(await good`notifications delivery ${id}`, /Attempt 1: +.* ms: 200/);
    await good`notifications assign operations --project Default --none`;
    await good`notifications endpoints delete operations`;
    assert.deepEqual(await list(), []);
  });
});
