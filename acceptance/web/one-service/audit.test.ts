/** The audit trail and the organization in the browser. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Home } from '../../runs.ts';
import { chooseOption, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

describe('the audit trail in the browser', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;

  const dialog = () => page.getByRole('dialog').last();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).last().click();
  const go = (path: string) => page.goto(`${service.url}${path}`);

  before(async () => {
    service = await joinWebService();
    home = service.home;
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await service.signedIn();
  });

  test('a changed policy is in the trail with what it was before', async () => {
    await go('/organization?tab=policies');
    await chooseOption(page, /^Longest lifetime/, '2 weeks');
    await press('Save policies');
    await page.getByText('The policies were changed').waitFor();
    await go('/audit');
    await page
      .getByRole('combobox', { name: 'Action' })
      .or(page.getByLabel('Action'))
      .first()
      .fill('organization.policiesUpdated');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('action') === 'organization.policiesUpdated');
    await page.getByRole('row').getByRole('button', { name: 'organization.policiesUpdated' }).click();
    await dialog().getByText('maxTtl', { exact: true }).waitFor();
    await dialog().getByText('2-w', { exact: true }).waitFor();
    await dialog().getByText('Ada Lovelace').first().waitFor();
  });

  test('a trail that is open shows what happens', async () => {
    await go('/audit?action=project.created');
    await page.getByText('No matching entries').waitFor();
    await service.client.call('createProject', {
      body: { organizationId: home.organizationId, name: 'Seen at once' },
    });
    await page.getByRole('button', { name: 'project.created' }).waitFor();
  });

  test('filters are in the address, and what fits none says so', async () => {
    await go('/audit?action=nobody.didThis');
    await page.getByText('No matching entries').waitFor();
    await press('Without filters');
    await page.getByRole('row').nth(1).waitFor();
    assert.equal(new URL(page.url()).search, '');
  });

  test('older entries are a page of their own, to which the browser leads back', async () => {
    const { organizationId } = home;
    for (let count = 0; count < 60; count++)
      await service.client.call('updateOrganization', {
        params: { id: organizationId },
        body: { description: `text ${count}` },
      });
    await go('/audit');
    await press('Older');
    await page.waitForURL((url) => url.searchParams.has('after'));
    await page.getByRole('row').filter({ hasText: 'organization.' }).first().waitFor();
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('after'));
  });

  test('the chain is verified, also against a hash that was kept, and exported', async () => {
    await go('/audit');
    await press('Verify the chain');
    await page.getByLabel('A hash that you stored').fill('no hash');
    await page.getByText('64 hexadecimal digits are expected.').waitFor();
    await page.getByLabel('A hash that you stored').fill('');
    await press('Verify now');
    await page.getByText('The chain is intact').waitFor();
    await page.getByLabel('A hash that you stored').fill('0f'.repeat(32));
    await press('Verify now');
    await page.getByText('The chain is broken').waitFor();
    await page.keyboard.press('Escape');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as JSON lines' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    assert.ok(lines.length > 60);
    assert.equal((JSON.parse(lines[0]!) as { link: { number: number } }).link.number, 1);
  });
});
