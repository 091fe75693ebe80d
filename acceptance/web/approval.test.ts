/** Decisions about deployments in a real browser: approve, refuse, abort, and what a failing run says. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createEnvironment, type Home, homeOf, until, untilEnd, untilStatus } from '../runs.ts';
import { makeRepository, type Repository, type RunningService } from '../service.ts';
import {
  complaintsOf,
  holdPart,
  openPage,
  signIn,
  startBrowser,
  startWebService,
  withoutRuns,
} from './browser.ts';
import { admin } from './showcase.ts';

const servers = `variable "region" {
  type    = string
  default = "north"
}

resource "terraform_data" "server" {
  input            = "in \${var.region}"
  triggers_replace = [var.region]
}

output "where" {
  value = terraform_data.server.output
}
`;

const slow = `resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "echo it has begun; exec sleep 600"
  }
}
`;

const failing = `resource "terraform_data" "broken" {
  provisioner "local-exec" {
    command = "echo the disk is full >&2; exit 7"
  }
}
`;

describe('decisions', { skip: withoutRuns, concurrency: false }, () => {
  let service: RunningService;
  let browser: Browser;
  let page: Page;
  let home: Home;
  let repository: Repository;
  let complaints: string[];
  let logged = '';
  before(async () => {
    const settings = { ENVARIUM_OPA: '/nowhere/opa' };
    [service, browser] = await Promise.all([
      startWebService({ settings, onLog: (text) => void (logged += text) }),
      startBrowser(),
    ]);
    home = await homeOf(service.client);
    const files = { 'servers/main.tf': servers, 'slow/main.tf': slow, 'failing/main.tf': failing };
    repository = await makeRepository(service.folder, 'code', files);
    page = await openPage(browser);
    complaints = complaintsOf(page);
    await signIn(page, service.url);
  });
  after(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  const create = (path: string, more: object = {}) =>
    createEnvironment(service.client, home, { name: path, repository: repository.path, path, ...more });

  const open = (id: string) => page.goto(`${service.url}/deployments/${id}`);

  const sentence = (text: RegExp) => page.getByText(text).first().waitFor();

  /** A plan that replaces the one resource of an environment, waiting for a decision. */
  async function replacing(name: string): Promise<string> {
    const { id, deploymentId } = await create('servers', { name });
    await untilEnd(service.client, deploymentId);
    const again = await service.client.call('deployEnvironment', {
      params: { id },
      body: {
        userRequiresApproval: true,
        configurationChanges: [{ name: 'region', value: 'south', type: 1 }],
      },
    });
    await untilStatus(service.client, again.id, 'WAITING_FOR_USER');
    return again.id;
  }

  test('a plan is read, approved with a comment, and followed to its end on one page', async () => {
    const id = await replacing('to approve');
    await open(id);
    await sentence(/^Waiting for approval · 1 to replace · requested /);
    const row = page.getByRole('listitem').filter({ hasText: 'terraform_data.server' }).first();
    await row.getByText('the provider cannot change it in place').waitFor();
    const forcing = row.getByRole('listitem').filter({ hasText: 'forces the replacement' });
    assert.match(await forcing.innerText(), /triggers_replace[^]*north[^]*south/);
    await page.getByRole('button', { name: 'Approve' }).click();
    const question = page.getByRole('dialog', { name: 'Approve this plan?' });
    await question.getByRole('list', { name: 'What is destroyed or replaced' }).waitFor();
    const { planHash = '' } = await service.client.call('getDeployment', { params: { id } });
    await question.getByText(planHash.slice(0, 12)).waitFor();
    await question.getByLabel('Comment').fill('as discussed <b>yesterday</b>');
    await question.getByRole('button', { name: 'Approve and lose 1' }).click();
    await sentence(/^Succeeded in .*: 1 replaced$/);
    const decision = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem');
    assert.match(await decision.innerText(), new RegExp(`Approved by ${admin.name} .*`));
    assert.match(await decision.innerText(), /as discussed <b>yesterday<\/b>/);
    await page.getByRole('tab', { name: 'Outputs' }).click();
    await page.getByRole('cell', { name: 'in south' }).waitFor();
    assert.match(page.url(), /tab=outputs/);
  });

  test('a refusal by keyboard says by whom and why, and the same can be started again', async () => {
    const id = await replacing('to refuse');
    await open(id);
    await page.getByRole('button', { name: 'Approve', disabled: false }).waitFor();
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: 'Approve this plan?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('r');
    const question = page.getByRole('dialog', { name: 'Refuse this plan?' });
    await question.getByLabel('Why').fill('too late in the week');
    await question.getByRole('button', { name: 'Refuse' }).click();
    await sentence(new RegExp(`^Refused by ${admin.name}`));
    await page.getByText('too late in the week').waitFor();
    await page.getByRole('button', { name: 'Deploy again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deploy again' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await sentence(/^Waiting for approval · 1 to replace/);
  });

  for (const { part, key } of [
    { part: 'Palette', key: 'Control+k' },
    { part: 'ShortcutSheet', key: '?' },
  ])
    test(`letters typed before the ${part} is loaded decide nothing`, async () => {
      const id = await replacing(`while the ${part} loads`);
      const other = await openPage(browser);
      await signIn(other, service.url);
      const release = await holdPart(other, part);
      await other.goto(`${service.url}/deployments/${id}`);
      await other.getByRole('button', { name: 'Approve', disabled: false }).waitFor();
      await other.keyboard.press(key);
      await other.keyboard.type('art');
      assert.equal(await other.getByRole('dialog', { name: 'this plan?' }).count(), 0);
      if (part === 'Palette') {
        const field = other.getByRole('textbox', { name: 'Search for anything' });
        assert.equal(await field.inputValue(), 'art');
        release();
        await other
          .getByRole('dialog')
          .getByRole('button')
          .or(other.getByText('No matches'))
          .first()
          .waitFor();
        await other.keyboard.type('ful');
        await field.and(other.locator(':focus')).waitFor();
        assert.equal(await field.inputValue(), 'artful');
      } else {
        release();
        await other.getByRole('dialog', { name: 'Keyboard' }).getByText('Next row').waitFor();
      }
      await other.keyboard.press('Escape');
      await other.getByRole('dialog').waitFor({ state: 'detached' });
      await other.keyboard.press('a');
      await other.getByRole('dialog', { name: 'Approve this plan?' }).waitFor();
      await other.context().close();
    });

  test('a second decision changes nothing, and the page says who was faster', async () => {
    const id = await replacing('for two');
    await open(id);
    await page.getByRole('button', { name: 'Approve' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Approve and lose 1' });
    await confirm.waitFor();
    await service.client.call('approveDeployment', { params: { id } });
    await confirm.click();
    const notice = page.getByRole('status').filter({ hasText: 'Someone else has already decided' });
    assert.match(
      await notice.innerText(),
      /First admin key has approved it\. Your decision changed nothing\./,
    );
    await notice.getByRole('button', { name: 'Understood' }).click();
    await sentence(/^Succeeded in /);
    const { reviewers } = await service.client.call('getDeployment', { params: { id } });
    assert.equal(reviewers.length, 1);
  });

  test('after a decision about another version is refused, the deployment is read once', async () => {
    const id = await replacing('for one who is late');
    const other = await openPage(browser);
    await signIn(other, service.url);
    await other.goto(`${service.url}/deployments/${id}`);
    await other.getByRole('button', { name: 'Approve' }).click();
    const confirm = other.getByRole('dialog').getByRole('button', { name: 'Approve and lose 1' });
    await confirm.waitFor();
    const reads: string[] = [];
    other.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() === 'GET' && pathname === `/api/environments/deployments/${id}`)
        reads.push(pathname);
    });
    // Nothing else changes: no event makes the page read, too.
    await other.route(`**/api/environments/deployments/${id}*`, (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 412, json: { code: 'precondition_failed', message: 'It was changed' } })
        : route.fallback(),
    );
    await confirm.click();
    await other.getByText('It was changed').waitFor();
    await until('a read', () => reads.length > 0);
    assert.equal(reads.length, 1);
    await other.context().close();
    await service.client.call('cancelDeployment', { params: { id } });
  });

  test('a running deployment is aborted, and what waits behind it says so', async () => {
    const { id, deploymentId } = await create('slow');
    await open(deploymentId);
    await sentence(/^Running tf:apply /);
    const next = await service.client.call('deployEnvironment', { params: { id } });
    const second = await page.context().newPage();
    await second.goto(`${service.url}/deployments/${next.id}`);
    await second.getByText(/^Queued behind a deploy \(running for /).waitFor();
    await second.getByRole('button', { name: 'Cancel' }).click();
    await second.getByRole('dialog').getByRole('button', { name: 'Cancel the deployment' }).click();
    await second
      .getByText(/^Cancelled /)
      .first()
      .waitFor();
    await second.close();
    await page.getByRole('button', { name: 'Abort' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Abort' }).click();
    await sentence(new RegExp(`^Aborted by ${admin.name}`));
    const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
    await steps.filter({ hasText: 'tf:apply' }).filter({ hasText: 'Cancelled' }).waitFor();
  });

  test('a failing run shows its command, its output, and the way to its log', async () => {
    const { deploymentId } = await create('failing');
    await untilEnd(service.client, deploymentId, 'FAILURE');
    await open(deploymentId);
    await sentence(/^Failed in tf:apply after .*: local-exec provisioner error$/);
    const failure = page.getByRole('region', { name: 'terraform apply' });
    assert.match(await failure.innerText(), /the disk is full/);
    await failure.getByRole('link', { name: 'Log of tf:apply' }).click();
    await page.waitForURL(/tab=log&step=tf%3Aapply/);
  });

  test("one's own plan cannot be approved where the project forbids it, and the button and the inbox say so", async () => {
    const { projectId } = home;
    await service.client.call('updatePolicy', {
      body: { projectId, requiresApprovalDefault: true, selfApprovalForbidden: true },
    });
    await open(await replacing('my own'));
    await page
      .getByText(
        'It waits because the policy of its project does not allow people to approve their own plans.',
      )
      .waitFor();
    await page.getByText(/^If no one decides, it times out in \d+ d/).waitFor();
    await page.getByRole('button', { name: 'Approve', disabled: false }).waitFor();
    await page.keyboard.press('r');
    await page.getByRole('dialog').getByRole('button', { name: 'Refuse' }).click();
    await page.getByRole('button', { name: 'Deploy again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deploy again' }).click();
    const about = page.getByRole('region', { name: 'Approval' });
    await about.getByText(/^This is your own plan, and the policy of the project/).waitFor();
    await page.locator('[aria-disabled="true"]', { hasText: 'Approve' }).waitFor();
    const mine = page.url().replace(/^.*\//, '').replace(/\?.*$/, '');
    await page.getByRole('link', { name: 'Inbox' }).first().click();
    const others = page.getByRole('region', { name: 'Waiting for someone else' });
    const row = others.getByRole('listitem').filter({ hasText: 'my own' });
    await row.getByText(/^This is your own plan/).waitFor();
    await service.client.call('approveDeployment', { params: { id: mine } });
    await row.waitFor({ state: 'detached' });
    await service.client.call('updatePolicy', {
      body: { projectId, requiresApprovalDefault: true, selfApprovalForbidden: null },
    });
  });

  test('a deployment whose environment was deleted says so, and offers nothing', async () => {
    const { id, deploymentId } = await create('servers', { name: 'to delete', requiresApproval: true });
    await untilStatus(service.client, deploymentId, 'WAITING_FOR_USER');
    await service.client.call('cancelDeployment', { params: { id: deploymentId } });
    await open(deploymentId);
    await page.getByRole('button', { name: 'Deploy again' }).waitFor();
    await service.client.call('deleteEnvironment', { params: { id } });
    await page.getByText('The environment of this deployment was deleted.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Deploy again' }).count(), 0);
  });

  test('without the program opa, the start, the page of policies and a policy say what to install', async () => {
    const remedy = 'ENVARIUM_OPA names /nowhere/opa, which this service cannot execute: install opa';
    assert.ok(logged.includes(remedy), logged);
    const { organizationId } = home;
    const body = { organizationId, name: 'unevaluated', repository: repository.path };
    const { id } = await service.client.call('createApprovalPolicy', { body });
    await page.goto(`${service.url}/approval-policies`);
    await page.getByText(remedy).waitFor();
    await page.goto(`${service.url}/approval-policies/${id}?tab=places`);
    await page.getByText(remedy).waitFor();
    await page.getByRole('button', { name: 'Assign', exact: true }).waitFor();
  });

  test('nothing of this breaks a rule of the browser', () => {
    assert.deepEqual(
      complaints.filter((text) => !/status of 40[49]/.test(text)),
      [],
    );
  });
});
