/** A plan that policies want two people to approve, in a real browser. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { withToolbox } from '../../../tools/toolbox/places.ts';
import { createEnvironment, untilStatus } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, openPage, signIn, withoutRuns } from '../browser.ts';
import { admin } from '../showcase.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const withoutOpa = withToolbox('opa').skip;

const twoPeople = `package envarium

pending contains sprintf("%d more to approve", [2 - count(input.approvers)]) if count(input.approvers) < 2

allow contains "two people have approved" if count(input.approvers) > 1

warn contains "<b>look</b> at the cost"
`;

describe('several approvers', { skip: withoutRuns || withoutOpa, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let id: string;
  before(async () => {
    service = await joinWebService();
    const { client, folder, home } = service;
    const { path: repository } = await makeRepository(folder, 'policies', { 'two.rego': twoPeople });
    const { organizationId, projectId } = home;
    const { id: blueprintId } = await client.call('createApprovalPolicy', {
      body: { organizationId, name: 'two people', repository },
    });
    await client.call('assignApprovalPolicy', {
      body: { scope: 'PROJECT', scopeId: projectId, blueprintId },
    });
    const code = await makeRepository(folder, 'code', { 'main.tf': 'resource "terraform_data" "a" {}\n' });
    const made = await createEnvironment(client, home, { name: 'shared', repository: code.path });
    id = made.deploymentId;
    await untilStatus(client, id, 'WAITING_FOR_USER');
    page = await openPage(service.browser);
    complaints = complaintsOf(page);
    await signIn(page, service.url, service.admin);
  });

  test('the inbox says what policies ask for, and leads to the plan with their verdicts', async () => {
    const waiting = page.getByRole('region', { name: 'Waiting for you' });
    const row = waiting.getByRole('listitem').filter({ hasText: 'shared' });
    await row.getByText('Still missing: two people: 2 more to approve').waitFor();
    await row.getByText(/times out in \d+ d/).waitFor();
    await row.getByRole('link', { name: 'Review' }).click();
    const verdicts = page.getByRole('list', { name: 'Verdicts' }).getByRole('listitem');
    await verdicts.filter({ hasText: '2 more to approve' }).waitFor();
    assert.match(
      await verdicts.innerText(),
      /two people: Requires more approvals[^]*Warns: <b>look<\/b> at the cost/,
    );
    await page.getByText('It waits because its approval policies say so.').waitFor();
  });

  test('the first approval is kept, and the same person cannot give the second one', async () => {
    await page.getByRole('button', { name: 'Approve' }).click();
    const question = page.getByRole('dialog', { name: 'Approve this plan?' });
    await question.getByLabel('Comment').fill('fine with me');
    await question.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Still missing: two people: 1 more to approve').waitFor();
    await page.getByText('after 1 approval').waitFor();
    const decisions = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem');
    assert.match(await decisions.innerText(), new RegExp(`Approved by ${admin.name} [^]*fine with me`));
    await page.getByText(/^You have already approved this plan/).waitFor();
    await page.locator('[aria-disabled="true"]', { hasText: 'Approve' }).waitFor();
    const picture = process.env.ENVARIUM_PICTURES;
    if (picture) await page.screenshot({ path: `${picture}/several-approvers.png`, fullPage: true });
  });

  test('the inbox counts the approval, and the second one is seen as it comes', async () => {
    await page.getByRole('link', { name: 'Inbox' }).first().click();
    const others = page.getByRole('region', { name: 'Waiting for someone else' });
    const row = others.getByRole('listitem').filter({ hasText: 'shared' });
    await row.getByText('1 person has approved it so far').waitFor();
    await row.getByRole('link', { name: 'Look at it' }).click();
    await page.getByText('after 1 approval').waitFor();
    await service.client.call('approveDeployment', { params: { id } });
    await page.getByText('two people have approved').waitFor();
    await page
      .getByText(/^Succeeded in .*: 1 added$/)
      .first()
      .waitFor();
    const decisions = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem');
    await decisions.nth(1).waitFor();
    assert.equal(await decisions.count(), 2);
  });

  test('nothing of this breaks a rule of the browser', () => {
    assert.deepEqual(complaints, []);
  });
});
