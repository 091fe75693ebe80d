/** A session that ends while a page is open. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { withoutBrowser } from '../browser.ts';
import type { Person } from '../showcase.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const other: Person = {
  email: 'grace@example.com',
  name: 'Grace Hopper',
  password: 'another four random words',
};

/** The dialog above the page. */
function dialogOf(page: Page) {
  return page.getByRole('dialog', { name: 'Your session has ended' });
}

async function signInAbove(page: Page, { email, password }: Person): Promise<void> {
  const dialog = dialogOf(page);
  await dialog.getByLabel(/^E-mail/).fill(email);
  await dialog.getByLabel(/^Password/).fill(password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
}

/** Follows a link of the page, also where the dialog is above it already. */
function openEnvironments(page: Page): Promise<void> {
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Environments' });
  return link.dispatchEvent('click');
}

describe('a session that ends while a page is open', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  before(async () => {
    service = await joinWebService();
  });

  test('asks for the sign-in above a form, and nothing that was typed is lost', async () => {
    page = await service.signedIn();
    await page.goto(`${service.url}/teams`);
    await page.getByRole('button', { name: 'New team' }).first().click();
    const form = page.getByRole('dialog').first();
    await form.getByLabel(/^Name/).fill('Night shift');
    await form.getByLabel('What for').fill('People who are awake');
    await page.context().clearCookies();
    await form.getByRole('button', { name: /^Create/ }).click();
    await dialogOf(page).waitFor();

    await signInAbove(page, { ...service.admin, password: 'not this one' });
    await dialogOf(page).getByText('E-mail or password are wrong').waitFor();
    await signInAbove(page, service.admin);
    await dialogOf(page).waitFor({ state: 'hidden' });

    assert.equal(await form.getByLabel(/^Name/).inputValue(), 'Night shift');
    assert.equal(await form.getByLabel('What for').inputValue(), 'People who are awake');
    await form.getByRole('button', { name: /^Create/ }).click();
    await page.getByRole('table').getByText('Night shift').waitFor();
    await page.context().close();
  });

  test('repeats reads that were refused in between', async () => {
    page = await service.signedIn();
    await page.context().clearCookies();
    await openEnvironments(page);
    await dialogOf(page).waitFor();
    await signInAbove(page, service.admin);
    await page.getByText('No environments yet').waitFor();
    await page.context().close();
  });

  test('loads the page of another person who signs in instead', async () => {
    const [organization] = await service.client.call('listOrganizations');
    const { link = '' } = await service.client.call('createInvitation', {
      body: { email: other.email, organizationId: organization?.id ?? '' },
    });
    const token = /[^/=#]+$/.exec(link)?.[0] ?? '';
    await service.client.call('acceptInvitation', {
      body: { token, name: other.name, password: other.password },
    });
    page = await service.signedIn();
    await page.context().clearCookies();
    await openEnvironments(page);
    await dialogOf(page).waitFor();
    await Promise.all([page.waitForEvent('load'), signInAbove(page, other)]);
    await page.getByRole('button', { name: 'Account: Grace Hopper' }).waitFor();
    await page.context().close();
  });

  test('ends everywhere when the person signs out, without a question', async () => {
    page = await service.signedIn();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in/);
    assert.equal(await dialogOf(page).count(), 0);
    await page.context().close();
  });
});
