/** One environment in the browser: deployed with another value, locked, renamed by two people, destroyed, deleted. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createEnvironment, deployNew, until, untilEnd } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, openPage, signIn, withAnswers, withoutRuns } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const configuration = `variable "region" {
  type    = string
  default = "eu"
}

resource "terraform_data" "server" {
  input = var.region
}

output "server" {
  value = terraform_data.server.output
}
`;

const longWait = { timeout: 60_000 };
/** Markup, right to left, wide characters, and longer than any line. */
const unusualName = `<b>كتاب</b> 🚀 ${'very long '.repeat(8)}`.trim();

describe('the page of an environment', { skip: withoutRuns }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let id: string;
  let repository: string;

  const open = (parameters = '', which = id) =>
    page.goto(`${service.url}/environments/${which}${parameters}`);
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
  const menu = async (name: string | RegExp) => {
    await button('More').click();
    await page.getByRole('menuitem', { name }).click();
  };
  /** The deployment that the page has gone to. */
  const startedId = async (): Promise<string> => {
    await page.waitForURL(/\/deployments\//, longWait);
    return page.url().split('/').at(-1)!.replace(/\?.*/, '');
  };

  before(async () => {
    service = await joinWebService();
    repository = (await makeRepository(service.folder, 'code', { 'main.tf': configuration })).path;
    ({ id } = await deployNew(service.client, service.home, { name: 'web', repository }));
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('a deployment with another value of a variable of the code', async () => {
    await open();
    await button('Deploy …').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Comment').fill('move');
    await dialog.getByRole('button', { name: /^Variables/ }).click();
    await dialog.getByLabel('Value of region').fill('us');
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    const deployment = await untilEnd(service.client, await startedId());
    assert.equal(deployment.comment, 'move');
    assert.deepEqual(
      deployment.variables?.map(({ name, value }) => [name, value]),
      [['region', 'us']],
    );
    await open('?tab=outputs');
    await page.getByText('us', { exact: true }).waitFor();
    await open('?tab=resources');
    await page.getByRole('listitem').filter({ hasText: 'server' }).first().waitFor();
  });

  test('a lock refuses deployments with its reason, and another tab hears of both', async () => {
    const other = await page.context().newPage();
    await other.goto(`${service.url}/environments/${id}`);
    await other.getByRole('heading', { name: 'web' }).waitFor();
    await open();
    await menu('Lock …');
    await page.getByLabel('Reason').fill('audit');
    await button('Lock').click();
    await other.getByText(/Locked by Ada Lovelace.*audit/).waitFor();
    const deploy = button('Deploy …');
    await deploy.and(page.locator('[aria-disabled="true"]')).waitFor();
    await deploy.hover();
    await page.getByRole('tooltip', { name: /locked \(audit\)/ }).waitFor();
    await other.getByRole('button', { name: 'Unlock' }).click();
    await page.getByText('It accepts no deployments').waitFor({ state: 'detached' });
    await other.close();
    const { isLocked } = await service.client.call('getEnvironment', { params: { id } });
    assert.equal(isLocked, false);
  });

  test('a question stays the same when another user has done the same in the meantime', async () => {
    await open();
    await menu('Lock …');
    const dialog = page.getByRole('dialog', { name: 'Lock the environment' });
    await dialog.getByLabel('Reason').fill('audit');
    const lock = (isLocked: boolean) =>
      service.client.call('setEnvironmentLock', { params: { id }, body: { isLocked } });
    await lock(true);
    await page.getByText('It accepts no deployments').waitFor();
    await dialog.getByRole('button', { name: 'Lock', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    const { isLocked } = await service.client.call('getEnvironment', { params: { id } });
    assert.equal(isLocked, true);
    await lock(false);
    await page.getByText('It accepts no deployments').waitFor({ state: 'detached' });
  });

  test('two people rename it: nothing typed is lost, and one of them decides', async () => {
    await open('?tab=settings');
    const name = page.getByLabel(/^Name/).first();
    await name.fill('mine');
    await service.client.call('updateEnvironment', {
      params: { id },
      body: { name: 'theirs', tags: ['shop'] },
    });
    await page.getByRole('heading', { name: 'theirs' }).waitFor();
    assert.equal(await name.inputValue(), 'mine');
    await button('Save').click();
    const conflict = page.getByRole('alert').filter({ hasText: 'Someone else has changed the name' });
    await conflict.waitFor();
    await until('the notice before the eyes of the person', async () => {
      const { y = -1 } = (await conflict.boundingBox()) ?? {};
      return y > 0 && y < 850;
    });
    await button('Replace theirs').click();
    await page.getByRole('heading', { name: 'mine' }).waitFor();
    const { tags } = await service.client.call('getEnvironment', { params: { id } });
    assert.deepEqual(tags, ['shop'], 'what only the other person has changed stays');
  });

  test('a changed description keeps the tags that another user sets in the meantime', async () => {
    await open();
    const about = page.getByRole('region', { name: 'About' });
    await about.getByRole('button', { name: 'Edit' }).click();
    await about.getByLabel('Description').fill('sells things');
    await service.client.call('updateEnvironment', { params: { id }, body: { tags: ['shop', 'new'] } });
    await about.getByRole('button', { name: 'Save' }).click();
    await about.getByRole('paragraph').filter({ hasText: 'sells things' }).waitFor();
    const { description, tags } = await service.client.call('getEnvironment', { params: { id } });
    assert.deepEqual([description, tags], ['sells things', ['shop', 'new']]);
  });

  test('a wrong field says so where it is, and keeps what was typed', async () => {
    await open('?tab=settings');
    const name = page.getByLabel(/^Name/).first();
    await name.fill('x'.repeat(300));
    await button('Save').click();
    await page.locator('.mantine-InputWrapper-error').waitFor();
    assert.equal((await name.inputValue()).length, 300);
  });

  test('a tab with changes is left only after a question', async () => {
    await open('?tab=settings');
    const questions = await withAnswers(page, [false, true], async () => {
      await page.getByLabel('Description').fill('half a sentence');
      await page.getByRole('tab', { name: 'State' }).click();
      assert.equal(await page.getByLabel('Description').inputValue(), 'half a sentence');
      await page.getByRole('tab', { name: 'State' }).click();
      await page.getByRole('tab', { name: 'State', selected: true }).waitFor();
    });
    assert.deepEqual(questions, Array(2).fill('Leave without saving the changed settings?'));
  });

  test('an unusual name is text, and its page fits a narrow screen', async () => {
    const home = service.home;
    const request = { name: unusualName, repository, preventAutoDeploy: true };
    const unusual = await createEnvironment(service.client, home, request);
    const narrow = await openPage(service.browser, { width: 320, height: 640 });
    await signIn(narrow, service.url, service.admin);
    await narrow.goto(`${service.url}/environments/${unusual.id}`);
    await narrow.getByRole('heading', { name: unusualName }).waitFor();
    await narrow.getByText('It was never deployed.').waitFor();
    await narrow.getByText(`envarium deploy ${unusual.id} --follow`).waitFor();
    const wide = await narrow.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 320, `the page is ${wide} pixels wide`);
    await narrow.context().close();
  });

  test('an environment that is deleted while it is open says so', async () => {
    const home = service.home;
    const request = { name: 'short', repository, preventAutoDeploy: true };
    const short = await createEnvironment(service.client, home, request);
    await open('', short.id);
    await page.getByRole('heading', { name: 'short' }).waitFor();
    await service.client.call('deleteEnvironment', { params: { id: short.id } });
    await page.getByRole('alert').filter({ hasText: 'does not exist any more' }).waitFor();
  });

  test('a destroy that the policy disables says so before anybody requests it', async () => {
    const { projectId } = service.home;
    const policy = (body: object) => service.client.call('updatePolicy', { body: { projectId, ...body } });
    await policy({ disableDestroyEnvironments: true });
    await open();
    await button('More').click();
    await page.getByRole('menuitem', { name: /Destroy … It cannot be destroyed: the policy/ }).waitFor();
    await policy({ maxTtl: 'inherit', defaultTtl: 'inherit', requiresApprovalDefault: true });
  });

  test('a destroy needs the name, and the page then says that nothing is left', async () => {
    await open();
    await menu('Destroy …');
    const destroy = button('Destroy');
    assert.ok(await destroy.isDisabled());
    await page.getByLabel('Type mine to confirm').fill('mine');
    await destroy.click();
    await untilEnd(service.client, await startedId());
    await open('?tab=resources');
    await page.getByText('It is destroyed: nothing is left').waitFor();
    await button('More').click();
    await page.getByRole('menuitem', { name: /Destroy … Nothing is deployed/ }).waitFor();
  });

  test('nothing of it troubles the browser but what was refused', () => {
    const others = complaints.filter((text) => !/the server responded with a status of 40[04]/.test(text));
    assert.deepEqual(others, []);
  });
});
