/** The whole job in a browser, from an empty installation to a destroyed environment. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { homeOf, untilStatus } from '../runs.ts';
import { makeRepository, type Repository, type RunningService, startService } from '../service.ts';
import { openPage, signIn, startBrowser, withoutRuns } from './browser.ts';
import { admin, type Person } from './showcase.ts';

const configuration = `variable "size" {
  type        = number
  description = "How many servers"
}

variable "token" {
  type      = string
  sensitive = true
}

resource "terraform_data" "server" {
  count = var.size
  input = "server \${count.index}"
}

output "servers" {
  value = terraform_data.server[*].output
}
`;

const viewer: Person = { email: 'vera@example.com', name: 'Vera', password: 'another four random words' };
const secret = 'swordfish-and-others';

describe('the whole job', { skip: withoutRuns, concurrency: false }, () => {
  let service: RunningService;
  let browser: Browser;
  let repository: Repository;
  let page: Page;
  before(async () => {
    service = await startService({ isLaunched: true, settings: { ENVARIUM_RATE_LIMIT: '0' } });
    repository = await makeRepository(service.folder, 'servers', { 'main.tf': configuration });
    browser = await startBrowser();
    page = await openPage(browser);
  });
  after(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  const status = (word: string) => page.locator('header').getByText(word, { exact: true }).first().waitFor();

  test('an empty installation asks for its first administrator', async () => {
    await page.goto(`${service.url}/first-start#${service.key}:${service.secret}`);
    await page.getByLabel(/^Name/).fill(admin.name);
    await page.getByLabel(/^E-mail/).fill(admin.email);
    await page.getByLabel(/^Password/).fill(admin.password);
    assert.ok(!page.url().includes(service.secret), 'the key is no longer in the address');
    await page.getByRole('button', { name: 'Create the first administrator' }).click();
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  });

  test('an environment is created from a repository, with a form for its variables', async () => {
    await page.getByRole('link', { name: 'New environment' }).first().click();
    await page.getByText('From a repository').click();
    await page.getByRole('textbox', { name: /^Repository/ }).fill(repository.path);
    await page.getByRole('button', { name: 'Next: Settings' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('web servers');
    await page.getByRole('button', { name: 'Next: Variables' }).click();
    await page.getByRole('textbox', { name: /size/ }).fill('2');
    await page.getByLabel(/token/).first().fill(secret);
    await page.getByRole('button', { name: 'Next: Preview' }).click();
    await page.getByRole('button', { name: 'Create and deploy' }).click();
    await page.waitForURL(/\/deployments\//);
    await status('Waiting for approval');
    await page.getByText('terraform_data.server[1]').first().waitFor();
    assert.ok(!(await page.content()).includes(secret), 'the value of a sensitive variable is nowhere');
  });

  test('its plan is approved, and its log and outputs can be read', async () => {
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await status('Succeeded');
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByText('Apply complete! Resources: 2 added', { exact: false }).first().waitFor();
    await page.getByRole('tab', { name: 'Outputs' }).click();
    await page.getByText('servers', { exact: true }).first().waitFor();
  });

  test('a person who may only look sees no way to approve, and is refused by hand', async () => {
    const { projectId, organizationId } = await homeOf(service.client);
    const { userId } = await service.client.call('createAdmin', { body: viewer });
    const body = { userId, role: 'User', organizationId };
    await service.client.call('assignUserRole', { body });
    await service.client.call('assignUserRole', { body: { userId, role: 'Viewer', projectId } });
    const [environment] = await service.client.call('listEnvironments');
    const { id } = await service.client.call('deployEnvironment', {
      params: { id: environment!.id },
      body: { userRequiresApproval: true },
    });
    await untilStatus(service.client, id, 'WAITING_FOR_USER');
    const other = await openPage(browser);
    await signIn(other, service.url, viewer);
    await other.goto(`${service.url}/deployments/${id}`);
    await other.getByText('Waiting for approval').first().waitFor();
    const approve = other.getByRole('button', { name: 'Approve', exact: true });
    assert.ok((await approve.count()) === 0 || (await approve.getAttribute('aria-disabled')) === 'true');
    const refused = await other.evaluate(`(async () => {
      const { session } = await (await fetch('/api/users/me')).json();
      const headers = { 'x-csrf-token': session.csrfToken };
      return (await fetch('/api/environments/deployments/${id}', { method: 'PUT', headers })).status;
    })()`);
    assert.equal(refused, 403);
    await other.context().close();
    await service.client.call('cancelDeployment', { params: { id } });
  });

  test('it is destroyed by the keyboard alone', async () => {
    const keys = async (...names: readonly string[]) => {
      for (const name of names) await page.keyboard.press(name);
    };
    await page.goto(service.url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await keys('Control+k');
    await page.getByPlaceholder(/./).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('web servers');
    await page.getByRole('dialog').getByText('web servers').first().waitFor();
    await keys('Enter');
    await page.getByRole('heading', { level: 1, name: 'web servers' }).waitFor();
    await pressUntil(page, 'Tab', 'More');
    await keys('Enter');
    await page.getByRole('menuitem', { name: 'Destroy …' }).waitFor();
    await pressUntil(page, 'ArrowDown', 'Destroy …');
    await keys('Enter');
    await page.getByRole('dialog').getByLabel(/^Type/).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('web servers');
    await keys('Enter');
    await page.waitForURL(/\/deployments\//);
    await status('Waiting for approval');
    await page.getByRole('button', { name: 'Approve', disabled: false }).waitFor();
    await keys('a');
    // A careless Enter changes nothing if something would be lost.
    await page.locator(':focus', { hasText: 'Not yet' }).waitFor();
    await keys('Tab');
    await page.locator(':focus', { hasText: 'lose 2' }).waitFor();
    await keys('Enter');
    await status('Succeeded');
    const [environment] = await service.client.call('listEnvironments');
    assert.equal(environment!.status, 'INACTIVE');
  });
});

/** Presses a key until what has this text has focus. */
async function pressUntil(page: Page, key: string, text: string): Promise<void> {
  const passed: unknown[] = [];
  for (let presses = 0; presses < 60; presses += 1) {
    const focused = await page.evaluate('document.activeElement?.textContent?.slice(0, 30)');
    if (focused === text) return;
    passed.push(focused);
    await page.keyboard.press(key);
  }
  throw new Error(`60 presses of ${key} do not lead to ${text}, but to ${passed.join(', ')}`);
}
