/** The list of environments: filters, views, and actions on many at once. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createEnvironment } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { chooseOption, complaintsOf, openPage, signIn, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

/** One page and a little more. */
const count = 103;
const hostile = '<img src=x onerror=alert(1)> שלום 🚀 '.padEnd(200, 'very long ');

describe('the list of environments', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: readonly string[];
  before(async () => {
    service = await joinWebService();
    const home = service.home;
    const { path: repository } = await makeRepository(service.folder, 'empty', { 'main.tf': '' });
    const of = { repository, preventAutoDeploy: true } as const;
    for (let at = 1; at < count; at++) {
      const tags = at % 2 === 0 ? { tags: ['even'] } : {};
      await createEnvironment(service.client, home, {
        ...of,
        ...tags,
        name: `web ${String(at).padStart(3, '0')}`,
      });
    }
    await createEnvironment(service.client, home, { ...of, name: hostile });
    page = await openPage(service.browser);
    complaints = complaintsOf(page);
    await signIn(page, service.url, service.admin);
    await page.goto(`${service.url}/environments`);
    await page.getByText(`1 to 100 of ${count}`).waitFor();
  });

  const rows = () => page.getByRole('table').getByRole('row');
  const firstName = () => rows().nth(1).getByRole('link').first().textContent();

  test('a name is text, whatever it is made of, and fits the screen', async () => {
    assert.equal(await firstName(), hostile.trim());
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(wider) <= 0, `${wider} px`);
  });

  test('pages, order and filters are in the address, and "back" leads to the page before', async () => {
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText(`101 to ${count} of ${count}`).waitFor();
    assert.match(page.url(), /page=2/);
    await page.goBack();
    await page.getByText(`1 to 100 of ${count}`).waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.waitForURL(/sort=name/);
    await page
      .getByRole('columnheader', { name: 'Name' })
      .and(page.locator('[aria-sort="ascending"]'))
      .waitFor();
    await page.getByRole('searchbox').fill('web 04');
    await page.getByText('1 to 10 of 10').waitFor();
    assert.equal(await firstName(), 'web 040');
    const link = page.url();
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('1 to 10 of 10').waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), 'web 04');
  });

  test('a tag narrows it, and what nothing fits says so and clears', async () => {
    await page.getByRole('button', { name: 'More filters' }).click();
    await chooseOption(page, 'Any tag', 'even');
    await page.getByText('1 to 5 of 5').waitFor();
    await page.getByRole('searchbox').fill('nothing has this');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByText(`1 to 100 of ${count}`).waitFor();
  });

  test('a view is saved by its name, kept by the browser, and forgotten', async () => {
    await page.getByRole('searchbox').fill('web 10');
    await page.getByText('1 to 3 of 3').waitFor();
    await page.getByRole('button', { name: 'View …' }).click();
    await page.getByRole('menuitem', { name: 'Save this view' }).click();
    await page.getByRole('dialog').getByLabel(/^Name/).fill('The last ones');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByRole('link', { name: 'All' }).click();
    await page.getByText(`1 to 100 of ${count}`).waitFor();
    await page.reload();
    await views.getByRole('link', { name: 'The last ones' }).click();
    await page.getByText('1 to 3 of 3').waitFor();
    await page.getByRole('button', { name: 'View …' }).click();
    await page.getByRole('menuitem', { name: 'Forget The last ones' }).click();
    await views.getByRole('link', { name: 'The last ones' }).waitFor({ state: 'detached' });
  });

  test('an action says which of those selected it does not fit and why, and reports on each', async () => {
    const locked = page.getByLabel('Select web 101');
    await page.getByLabel('Select all on this page').check();
    await page.getByText('3 selected').waitFor();
    await locked.uncheck();
    await page.getByRole('button', { name: 'Lock …', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('All selected environments qualify.').waitFor();
    await dialog.getByLabel('Reason').fill('audit');
    const sent = page.waitForRequest((request) => request.url().endsWith('/api/bulk-operations/lock'));
    await dialog.getByRole('button', { name: 'Lock 2 environments' }).click();
    assert.equal((await sent).postDataJSON().environmentIds.length, 2);
    await dialog.getByText('2 done').waitFor();
    await dialog.getByRole('progressbar').and(page.locator('[aria-valuenow="100"]')).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    for (const name of ['web 100', 'web 102'])
      await rows().filter({ hasText: name }).getByText('locked').waitFor();

    await locked.check();
    await page.getByRole('button', { name: 'Deploy …' }).click();
    await dialog.getByText('2 environments left out').waitFor();
    assert.equal(await dialog.getByText('Left out: It is locked.').count(), 2);
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Destroy …' }).click();
    await dialog.getByText('3 environments left out').waitFor();
    assert.equal(await dialog.getByText('It has nothing deployed.').count(), 1);
    assert.equal(await dialog.getByRole('button', { name: /^Destroy 0/ }).isDisabled(), true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('the page had nothing to complain about', () => {
    assert.deepEqual(complaints, []);
  });
});
