/** Live updates of the page, and its message without them. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createEnvironment, type Home } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { openPage, signIn, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

describe('a page that is open', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let home: Home;
  let repository: string;
  before(async () => {
    service = await joinWebService();
    home = service.home;
    repository = (await makeRepository(service.folder, 'empty', { 'main.tf': '' })).path;
  });

  async function openList(prepare: (page: Page) => Promise<unknown> = async () => undefined): Promise<Page> {
    const page = await openPage(service.browser);
    await prepare(page);
    await signIn(page, service.url, service.admin);
    await page.goto(`${service.url}/environments`);
    await page.getByRole('heading', { level: 1, name: 'Environments' }).waitFor();
    return page;
  }

  const create = (name: string) =>
    createEnvironment(service.client, home, { repository, name, preventAutoDeploy: true });

  test('moves with what happens, over one connection and without asking again and again', async () => {
    const requests: string[] = [];
    const page = await openList(async (each) =>
      each.on('request', (request) => requests.push(new URL(request.url()).pathname)),
    );
    await page.getByText('No environments yet').waitFor();
    const lists = () => requests.filter((path) => path === '/api/environments').length;
    const before = lists();
    const { id } = await create('first');
    const row = page.getByRole('row').filter({ hasText: 'first' });
    await row.waitFor();
    await service.client.call('setEnvironmentLock', { params: { id }, body: { isLocked: true } });
    await row.getByText('locked').waitFor();
    assert.ok(lists() - before <= 3, `${lists() - before} reads of the list`);
    const streams = requests.filter((path) => path.endsWith('/events'));
    assert.deepEqual([...new Set(streams)], [`/api/organizations/${home.organizationId}/events`]);
    assert.ok(streams.length <= 3, `${streams.length} connections`);
    await page.context().close();
  });

  test('of an environment that another user deletes says so at once', async () => {
    const page = await openList();
    const { id } = await create('short-lived');
    await page.getByRole('link', { name: 'short-lived' }).click();
    await page.getByRole('heading', { level: 1, name: 'short-lived' }).waitFor();
    await service.client.call('deleteEnvironment', { params: { id } });
    await page.getByText('This environment does not exist any more').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.context().close();
  });

  test('says that the connection is lost, and has what happened in between when it is back', async () => {
    const page = await openList();
    await page.getByText('first').waitFor();
    await page.context().setOffline(true);
    await page.getByText(/^Connection lost/).waitFor();
    await create('second');
    await page.context().setOffline(false);
    await page.getByText('second').waitFor();
    await page.getByText(/^Connection lost/).waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a browser that cannot follow says so, and reads when the user requests it', async () => {
    const page = await openList((each) => each.addInitScript('delete globalThis.TextDecoderStream'));
    await page.getByText('This browser cannot receive changes').waitFor();
    await page.getByText('second').waitFor();
    await create('third');
    await page.getByRole('button', { name: 'Reload everything' }).click();
    await page.getByText('third').waitFor();
    await page.context().close();
  });

  test('too many streams of one person are reported in the words of the service', async () => {
    const page = await openList((each) =>
      each.route('**/events', (route) =>
        route.fulfill({
          status: 429,
          json: { code: 'too_many_requests', message: 'You have 20 open event streams: close some of them' },
        }),
      ),
    );
    await page.getByText('You have 20 open event streams').waitFor();
    await page.context().close();
  });

  test('a stream that is accepted late brings what happened before it', async () => {
    let isRefused = true;
    const page = await openList((each) =>
      each.route('**/events', (route) =>
        isRefused
          ? route.fulfill({ status: 429, json: { code: 'too_many_requests', message: 'Close some' } })
          : route.continue(),
      ),
    );
    await page.getByText('Close some').waitFor();
    await page.clock.install();
    await create('unheard');
    // Reads within a second before a stream opens count as read with it.
    await page.clock.fastForward(2000);
    isRefused = false;
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByRole('row').filter({ hasText: 'unheard' }).waitFor();
    await page.context().close();
  });

  test('a proxy that holds back what arrives is noticed', async () => {
    const page = await openPage(service.browser);
    await page.clock.install();
    await page.route('**/events', () => new Promise(() => undefined));
    await signIn(page, service.url, service.admin);
    await page.clock.fastForward(15_000);
    await page.getByText('Changes do not arrive').waitFor();
    await page.context().close();
  });

  test('a slow answer is announced as pending', async () => {
    const page = await openPage(service.browser);
    await page.clock.install();
    await page.route('**/api/agents?**', () => new Promise(() => undefined));
    await signIn(page, service.url, service.admin);
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await page.clock.fastForward(5000);
    await page.getByText('The service is slow to respond').waitFor();
    await page.context().close();
  });

  test('a part that an update has removed says to reload, and the rest of the page stays', async () => {
    const page = await openList();
    await page.route('**/assets/AuditPage*', (route) => route.fulfill({ status: 404, body: '' }));
    await page.getByRole('link', { name: 'Audit trail' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.unroute('**/assets/AuditPage*');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: /^Audit/ }).waitFor();
    await page.context().close();
  });
});
