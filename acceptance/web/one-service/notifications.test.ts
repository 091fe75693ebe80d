/** Endpoints, the events of a project, and what was sent, in the browser. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Home, until } from '../../runs.ts';
import { chooseOption, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

describe('notifications in the browser', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;
  let receiver: Server;
  let address: string;

  const press = (name: string) => page.getByRole('button', { name, exact: true }).last().click();
  const dialog = () => page.getByRole('dialog').last();
  const field = (label: RegExp) => dialog().getByRole('textbox', { name: label });

  before(async () => {
    receiver = createServer((_, response) => response.end('<b>taken</b>')).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in/hidden`;
    service = await joinWebService();
    home = service.home;
    page = await service.signedIn();
  });
  after(() => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  test('an endpoint is stored, and a wrong address is shown at its field', async () => {
    await page.goto(`${service.url}/notifications`);
    await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
    await press('New endpoint');
    await field(/^Name/).fill('on call');
    await chooseOption(page, 'Type', 'Webhook', { exact: true });
    await field(/^Address/).fill('https://10.0.0.1/x');
    await press('Store endpoint');
    await dialog()
      .getByText(/a private or local network/)
      .waitFor();
    await field(/^Address/).fill(address);
    await dialog()
      .getByLabel(/^Secret/)
      .fill('shared secret');
    await press('Store endpoint');
    await dialog().getByRole('button', { name: 'Send a test' }).waitFor();
  });

  test('the test button shows what was sent and answered, without the secret', async () => {
    await press('Send a test');
    await dialog().getByLabel('Response').getByText('<b>taken</b>').waitFor();
    await dialog().getByText('x-envarium-signature').waitFor();
    assert.match((await dialog().getByLabel('What was sent').textContent()) ?? '', /webhook\.test/);
    assert.ok(!(await page.content()).includes('shared secret'));
    await dialog().getByText('One is stored.').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
  });

  test('no one overwrites an endpoint that another user has changed, or loses what was typed, also without events', async () => {
    const { organizationId } = home;
    const [endpoint] = await service.client.call('listNotificationEndpoints', { query: { organizationId } });
    const params = { id: endpoint?.id ?? '' };
    await page.route('**/api/organizations/*/events*', (route) => route.abort());
    await page.goto(`${service.url}/notifications?open=${params.id}`);
    await field(/^Name/).fill('mine');
    await service.client.call('updateNotificationEndpoint', { params, body: { name: 'theirs' } });
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('Changed by someone else').waitFor();
    assert.equal(await field(/^Name/).inputValue(), 'mine');
    await dialog().getByRole('button', { name: 'Show their version' }).click();
    await until('their version', async () => (await field(/^Name/).inputValue()) === 'theirs');
    await dialog().getByText('Changed by someone else').waitFor({ state: 'detached' });
    await page.unrouteAll();
    await field(/^Name/).fill('on call');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('The endpoint was changed').waitFor();
  });

  test('a project chooses events; a project below inherits them until it chooses its own', async () => {
    const { projectId, organizationId } = home;
    const below = await service.client.call('createProject', {
      body: { organizationId, name: 'below', parentProjectId: projectId },
    });
    await page.goto(`${service.url}/projects/${projectId}?tab=notifications`);
    await page.getByText('Receives no events here').waitFor();
    await page.getByLabel('Deploy started').check();
    await page.getByText('Chosen in this project').waitFor();
    await page.goto(`${service.url}/projects/${below.id}?tab=notifications`);
    await page.getByText('Inherited from').waitFor();
    assert.ok(await page.getByLabel('Deploy started').isChecked());
    await page.getByLabel('Drift detected').check();
    await page.getByText('Chosen in this project').waitFor();
    await page.keyboard.press('Space');
    await page.keyboard.press('Space');
    assert.ok(await page.getByLabel('Drift detected').isChecked(), 'the focus stays, and both keys count');
    await press('Remove');
    await page.getByText('Inherited from').waitFor();
  });

  test('a delivery is found by filters, shown with its attempts, and sent again', async () => {
    const { projectId, organizationId } = home;
    const body = {
      name: '<i>network</i>',
      organizationId,
      projectId,
      repository: 'https://git.invalid/network.git',
      type: 'opentofu',
    } as const;
    await service.client.call('createEnvironmentWithoutTemplate', { body });
    await page.goto(`${service.url}/notifications?tab=deliveries&event=environmentDeployStarted`);
    await page.getByRole('row').filter({ hasText: '<i>network</i>' }).waitFor();
    await page.getByRole('table').getByRole('button', { name: 'Deploy started' }).click();
    await dialog().getByRole('heading', { name: 'Attempt 1' }).waitFor();
    await press('Send again');
    await dialog().getByRole('heading', { name: 'Attempt 2' }).waitFor();
    assert.ok(!(await page.content()).includes('/in/hidden'));
    await page.goto(`${service.url}/notifications?tab=deliveries&status=failed`);
    await page.getByText('No matching deliveries').waitFor();
  });
});
