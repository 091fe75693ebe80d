/** Everything by keyboard: the command palette, the shortcuts, and where the focus is. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createEnvironment } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, holdPart, openPage, signIn, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const strange = '🚀 <b>עִבְרִית</b> environment';

/** Waits until something is in focus. */
function inFocus(page: Page, locator: Locator): Promise<void> {
  return locator.and(page.locator(':focus')).waitFor();
}

describe('the keyboard', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: readonly string[];
  before(async () => {
    service = await joinWebService();
    const home = service.home;
    const { path: repository } = await makeRepository(service.folder, 'empty', { 'main.tf': '' });
    const of = { repository, preventAutoDeploy: true } as const;
    for (const name of ['alpha', 'beta', strange])
      await createEnvironment(service.client, home, { ...of, name });
    page = await openPage(service.browser);
    complaints = complaintsOf(page);
    await signIn(page, service.url, service.admin);
  });

  const palette = () => page.getByRole('textbox', { name: 'Search for anything' });

  async function find(text: string): Promise<void> {
    await page.keyboard.press('Control+k');
    await inFocus(page, palette());
    await page.keyboard.type(text);
  }

  /** Holds back the search for environments. @returns sends it, and whatever is searched later at once */
  async function holdSearch(): Promise<() => void> {
    const isSearch = (url: URL) => url.pathname === '/api/environments' && url.searchParams.has('searchText');
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route(isSearch, async (route) => {
      await isReleased;
      await route.continue();
    });
    return release;
  }

  test('Ctrl-K finds an environment by a part of its name, and Enter opens it', async () => {
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await find('alph');
    await page.getByRole('button', { name: /^alpha/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/environments\/[\w-]{36}/);
  });

  test('names are text in it, whatever they are made of', async () => {
    await find('environment');
    await page.getByRole('button', { name: strange }).waitFor();
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'hidden' });
  });

  test('a name without matches is reported', async () => {
    await find('no such thing at all');
    await page.getByText('No matches').waitFor();
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'hidden' });
  });

  test('while the service still searches, the palette says so instead of "No matches"', async () => {
    const release = await holdSearch();
    await find('no such thing either');
    await page.getByText('Searching …').waitFor();
    assert.equal(await page.getByText('No matches').count(), 0);
    release();
    await page.getByText('No matches').waitFor();
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'hidden' });
  });

  test('a page that loads slowly does not take the focus from it', async () => {
    const release = await holdPart(page, 'AuditPage');
    await page.getByRole('link', { name: 'Audit trail' }).click();
    await find('no such');
    release();
    await page.getByRole('heading', { level: 1, name: /^Audit/ }).waitFor();
    await page.keyboard.type(' thing');
    await page.getByText('No matches').waitFor();
    await inFocus(page, palette());
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'hidden' });
  });

  test('keys pressed while another page is loading do not act on the page that is left', async () => {
    await page.goto(`${service.url}/environments`);
    await page.getByRole('table').getByText('beta').waitFor();
    const release = await holdPart(page, 'ProjectsPage');
    await page.keyboard.press('j');
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.keyboard.press('x');
    await page.keyboard.press('o');
    assert.equal(await page.getByText('1 selected').count(), 0);
    release();
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    assert.match(page.url(), /\/projects$/);
  });

  test('g and a letter go to a place, and its title is in focus', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.waitForURL(/\/projects$/);
    await inFocus(page, page.getByRole('heading', { level: 1, name: 'Projects' }));
  });

  test('in a list j and k walk, x selects, o opens, and / leads to the search', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.waitForURL(/\/environments$/);
    await page.getByRole('table').getByText('beta').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    assert.equal(await page.getByLabel('Select beta').isChecked(), true);
    await page.keyboard.press('/');
    await page.keyboard.type('alpha');
    await page.waitForURL(/search=alpha/);
    await page.getByText('1 to 1 of 1').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.waitForURL(/\/environments\/[\w-]{36}/);
  });

  test('letters that are typed into a field are text', async () => {
    await find('c ? g e');
    assert.match(page.url(), /\/environments\/[\w-]{36}/);
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'hidden' });
  });

  test('the sheet of shortcuts lists them, and Escape leads back', async () => {
    await page.getByRole('link', { name: 'Inbox' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await page.getByRole('button', { name: 'Copy as …' }).focus();
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard' });
    await sheet.getByText('Next row').waitFor();
    await sheet.getByRole('button').first().focus();
    await page.keyboard.press('c');
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'hidden' });
    await inFocus(page, page.getByRole('button', { name: 'Copy as …' }));
    assert.equal(new URL(page.url()).pathname, '/', 'the keys of the page rest below a dialog');
  });

  test('the first Tab skips the places, and a menu opens, walks and closes by keys', async () => {
    await page.goto(`${service.url}/environments?search=alpha`);
    const title = page.getByRole('heading', { level: 1, name: 'Environments' });
    await title.waitFor();
    await page.keyboard.press('Tab');
    await inFocus(page, page.getByRole('link', { name: 'Skip to the page' }));
    await page.keyboard.press('Enter');
    await inFocus(page, title);
    assert.match(page.url(), /\/environments\?search=alpha$/);
    await page.getByRole('button', { name: /^Account/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor({ state: 'hidden' });
    await inFocus(page, page.getByRole('button', { name: /^Account/ }));
  });

  test('Enter is not lost while the palette loads, nor the focus while a menu loads', async () => {
    await page.goto(`${service.url}/environments`);
    await page.getByRole('table').getByText('beta').waitFor();
    const releasePalette = await holdPart(page, 'Palette');
    const releaseMenu = await holdPart(page, 'CallsMenu');
    await find('copy as');
    await page.keyboard.press('Enter');
    releasePalette();
    await inFocus(page, page.getByRole('button', { name: 'Copy as …' }));
    await page.keyboard.press('Enter');
    await inFocus(page, page.getByRole('button', { name: 'Copy as …' }));
    releaseMenu();
    await page.getByRole('menuitem', { name: 'curl' }).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem', { name: 'curl' }).first().waitFor({ state: 'hidden' });
  });

  test('Enter waits for an environment whose name is still searched', async () => {
    await page.goto(`${service.url}/projects`);
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    const releasePalette = await holdPart(page, 'Palette');
    const releaseSearch = await holdSearch();
    // A page has this in its name, too, and is found at once.
    await find('et');
    await page.keyboard.press('Enter');
    releasePalette();
    await page.getByRole('button', { name: 'Configuration sets' }).waitFor();
    releaseSearch();
    await page.waitForURL(/\/environments\/[\w-]{36}/);
  });

  test('the palette offers what a page can do that is loaded after it was opened', async () => {
    await page.goto(`${service.url}/environments`);
    await page.getByRole('table').getByText('beta').waitFor();
    const release = await holdPart(page, 'ProjectsPage');
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await find('new project');
    await page.keyboard.press('Enter');
    release();
    await page.getByRole('dialog', { name: 'New project' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'New project' }).waitFor({ state: 'hidden' });
  });

  test('g and a letter pressed quickly go to a place also where the page handles them late', async () => {
    const busy = `addEventListener('keydown', function block({ key }) {
      if (key !== 'g') return;
      removeEventListener('keydown', block);
      const until = performance.now() + 1500;
      while (performance.now() < until);
    })`;
    await page.evaluate(busy);
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('e')]);
    await page.waitForURL(/\/environments$/);
  });

  test('the palette does what the page can do, and changes the colours', async () => {
    await find('copy as');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'curl' }).first().waitFor();
    await page.keyboard.press('Escape');
    await find('dark');
    await page.keyboard.press('Enter');
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    assert.deepEqual(complaints, []);
  });
});
