/** The doors of the web interface, from an empty installation on. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { homeOf } from '../runs.ts';
import { type RunningService, startService } from '../service.ts';
import { complaintsOf, openPage, signIn, startBrowser, withoutBrowser } from './browser.ts';
import { admin } from './showcase.ts';

const password = 'another four random words';

describe('doors of the web interface', { skip: withoutBrowser, concurrency: false }, () => {
  let service: RunningService;
  let browser: Browser;
  let page: Page;

  const main = () => page.getByRole('navigation', { name: 'Main' });
  const field = (label: string) => page.getByLabel(new RegExp(`^${label}`));
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  /** The page of a link, at the address of this service. */
  const open = (link: string) => {
    const { pathname, hash } = new URL(link);
    return page.goto(`${service.url}${pathname}${hash}`);
  };
  const invite = async (email: string, organizationId?: string) => {
    const home = await homeOf(service.client);
    const made = await service.client.call('createInvitation', {
      body: { email, organizationId: organizationId ?? home.organizationId },
    });
    return made.link ?? '';
  };

  before(async () => {
    service = await startService({ isLaunched: true });
    browser = await startBrowser();
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await openPage(browser);
  });
  after(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  test('an empty installation leads to its first administrator, and asks for the first key', async () => {
    await page.goto(`${service.url}/environments`);
    await page.waitForURL('**/first-start');
    await field('Name').fill(admin.name);
    await field('E-mail').fill(admin.email);
    await field('Password').fill('short');
    await field('First key').fill('no colon');
    await press('Create the first administrator');
    await page.getByText('The key has the form <id>:<secret>.').waitFor();
    await page.getByText('12 characters at least: 7 more.').waitFor();
    await field('First key').fill(`${service.key}:wrong`);
    await field('Password').fill(admin.password);
    await press('Create the first administrator');
    await page.getByText('The service does not know this key.').waitFor();
    assert.equal(await field('Name').inputValue(), admin.name);
  });

  test('the link of the first start makes an administrator; its key leaves the address at once', async () => {
    const complaints = complaintsOf(page);
    await page.goto(`${service.url}/first-start#${service.key}:${service.secret}`);
    await page.waitForURL((url) => url.hash === '');
    assert.equal(await field('First key').count(), 0);
    await field('Name').fill(admin.name);
    await field('E-mail').fill(admin.email);
    await field('Password').fill(admin.password);
    await press('Create the first administrator');
    await main().waitFor();
    await page.goto(`${service.url}/first-start`);
    await page.getByText('This installation has its administrator').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('after a wrong password the typed text is kept; after many, the page counts the seconds to wait', async () => {
    await page.goto(`${service.url}/sign-in?back=%2Fteams`);
    await field('E-mail').fill(admin.email);
    await field('Password').fill('wrong wrong wrong');
    await press('Sign in');
    await page.getByText('Wrong e-mail or password').waitFor();
    assert.equal(await field('E-mail').inputValue(), admin.email);
    for (let failures = 1; failures < 5; failures++) {
      const answered = page.waitForResponse('**/api/auth/sign-in');
      await press('Sign in');
      await answered;
    }
    await press('Sign in');
    await page.getByText('Too many failed sign-ins').waitFor();
    await page.getByRole('button', { name: /^Wait \d+ s$/ }).waitFor();
    await field('Password').fill(admin.password);
    await press('Sign in');
    await page.waitForURL('**/teams');
    await main().waitFor();
  });

  test('a sign-in leads to no other site', async () => {
    await page.goto(`${service.url}/sign-in?back=${encodeURIComponent('//elsewhere.example/x')}`);
    await field('E-mail').fill(admin.email);
    await field('Password').fill(admin.password);
    await press('Sign in');
    await main().waitFor();
    assert.equal(page.url(), `${service.url}/`);
  });

  test('an invitation makes an account, once', async () => {
    const link = await invite('grace@example.com');
    await open(link);
    await page.getByText('You are invited to').waitFor();
    assert.equal(await field('E-mail').inputValue(), 'grace@example.com');
    await field('Name').fill('Grace Hopper');
    await field('Password').fill('passwordpassword');
    await press('Accept and sign in');
    await page.locator('.mantine-PasswordInput-error').waitFor();
    await field('Password').fill(password);
    await press('Accept and sign in');
    await main().waitFor();
    await open(link);
    await page.getByText('This invitation cannot be used').waitFor();
  });

  test('a person who has an account signs in and joins', async () => {
    const { id } = await service.client.call('createOrganization', { body: { name: 'Second' } });
    await open(await invite('grace@example.com', id));
    await page.getByText('has an account here').waitFor();
    await press('Sign in');
    await field('E-mail').fill('grace@example.com');
    await field('Password').fill(password);
    await press('Sign in');
    await press('Join');
    await main().waitFor();
    const shown = await page.evaluate("localStorage.getItem('envarium.organization')");
    assert.equal(shown, id);

    const other = await page.context().newPage();
    await other.goto(service.url);
    await other.getByRole('button', { name: /^Account/ }).click();
    await other.locator('[role="menuitem"][aria-current="false"]').click();
    await page.getByRole('link', { name: 'Environments' }).first().click();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: '✓ Second' }).waitFor();
    await other.close();
  });

  test('an invitation for another person is not accepted by the user who is signed in', async () => {
    const { id } = await service.client.call('createOrganization', { body: { name: 'Third' } });
    await signIn(page, service.url);
    await open(await invite('grace@example.com', id));
    await page.getByRole('button', { name: 'Sign in as someone else' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Join' }).count(), 0);
  });

  test('the operator makes links for a new password and for a sign-in, which work once', async () => {
    const home = await homeOf(service.client);
    const members = await service.client.call('listMembers', { params: { id: home.organizationId } });
    const grace = members.find(({ user }) => user.email === 'grace@example.com');
    const params = { id: grace?.user.user_id ?? '' };
    const reset = await service.client.call('createPasswordReset', { params });
    await open(reset.link);
    await field('New password').fill('five quite different random words');
    await press('Set the password');
    await main().waitFor();
    await page.context().clearCookies();
    const { link } = await service.client.call('createSignInLink', { params });
    await open(link);
    await main().waitFor();
    await page.context().clearCookies();
    await page.goto('about:blank');
    await open(link);
    await page.getByText('This link cannot be used').waitFor();
    await page.goto('about:blank');
    await open(reset.link);
    await field('New password').fill('six quite different random words');
    await press('Set the password');
    await page.getByText('This link cannot be used').waitFor();
  });

  test('a command line is let in by the person who is signed in, on this computer only', async () => {
    await signIn(page, service.url);
    const arrived = Promise.withResolvers<string>();
    const server = createServer((request, response) => {
      if (request.url?.startsWith('/callback')) arrived.resolve(request.url);
      response.end('You can close this page.');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const query = new URLSearchParams({
      redirectUri: `http://127.0.0.1:${port}/callback`,
      codeChallenge: 'x'.repeat(43),
      state: 'state-of-the-command-line',
    });
    await page.goto(`${service.url}/command-line?${query}`);
    await page.getByText(admin.name).waitFor();
    await press('Allow');
    assert.match(await arrived.promise, /[?&]code=.*&state=state-of-the-command-line|state=.*&code=/);
    await page.getByText('You can close this page.').waitFor();
    await page.waitForLoadState();
    server.closeAllConnections();
    server.close();
    query.set('redirectUri', 'https://elsewhere.example/callback');
    await page.goto(`${service.url}/command-line?${query}`);
    await page.getByText('This address is incomplete').waitFor();
  });
});
