/** Schedules and lifetimes of an environment in the browser, and two people who change them. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createEnvironment, type Home } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, withAnswers, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const hour = 3_600_000;

describe('schedules in the browser', { skip: withoutBrowser }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let home: Home;
  let id: string;

  const open = (tab = 'schedule') => page.goto(`${service.url}/environments/${id}?tab=${tab}`);
  const part = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const turn = (label: string) => page.getByRole('switch', { name: label }).click({ force: true });
  const stored = () => service.client.call('getEnvironmentSchedule', { params: { id } });
  const environment = () => service.client.call('getEnvironment', { params: { id } });

  before(async () => {
    service = await joinWebService();
    home = service.home;
    const { path: repository } = await makeRepository(service.folder, 'code', { 'main.tf': '' });
    const request = { name: 'web', repository, preventAutoDeploy: true };
    id = (await createEnvironment(service.client, home, request)).id;
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('a schedule is put into words, with its next times, before it is saved', async () => {
    await open();
    await turn('Deploy on a schedule');
    await page.getByRole('textbox', { name: 'Deploy at' }).fill('30 6 * * 1-5');
    await page.getByText('every day from Monday to Friday at 06:30 UTC').waitFor();
    const next = part('Schedule').getByRole('list', { name: 'Next times' }).locator('time');
    assert.equal(await next.count(), 3);
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText('The schedule is saved').waitFor();
    const { deploy } = await stored();
    assert.deepEqual([deploy?.cron, deploy?.enabled], ['30 6 * * 1-5', true]);
    assert.equal(await next.first().getAttribute('datetime'), deploy?.nextSchedule);
  });

  test('an invalid expression, or one that never comes, cannot be saved, and the button says why', async () => {
    await open();
    await page.getByRole('textbox', { name: 'Deploy at' }).fill('0 0 31 2 *');
    await page.getByText('This time never comes').waitFor();
    await page.getByRole('textbox', { name: 'Deploy at' }).fill('whenever');
    await page.getByText(/^Five fields/).waitFor();
    const save = page.getByRole('button', { name: 'Save the schedule' });
    assert.equal(await save.getAttribute('aria-disabled'), 'true');
    await save.hover();
    await page.getByRole('tooltip', { name: 'Correct the cron expression.' }).waitFor();
  });

  test('another user was faster: what was typed stays, and one of the two changes counts', async () => {
    await open();
    await page.getByRole('textbox', { name: 'Deploy at' }).fill('0 7 * * *');
    await service.client.call('updateEnvironmentSchedule', {
      params: { id },
      body: { destroy: { cron: '0 20 * * *' } },
    });
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByRole('alert').filter({ hasText: 'Someone else has changed the schedule' }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Deploy at' }).inputValue(), '0 7 * * *');
    await page.getByRole('button', { name: 'Take theirs' }).click();
    assert.equal(await page.getByRole('textbox', { name: 'Destroy at' }).inputValue(), '0 20 * * *');
    const { deploy, destroy } = await stored();
    assert.deepEqual([deploy?.cron, destroy?.cron], [undefined, '0 20 * * *']);
  });

  test('after a change of another version is refused, that version is read once', async () => {
    const other = await service.signedIn();
    await other.goto(`${service.url}/environments/${id}?tab=schedule`);
    await other.getByRole('textbox', { name: 'Destroy at' }).fill('0 21 * * *');
    const reads: string[] = [];
    // Nothing else changes: no event makes the page read, too.
    await other.route(`**/api/scheduling/environments/${id}`, (route) => {
      const method = route.request().method();
      if (method === 'GET') reads.push(method);
      return method === 'PUT'
        ? route.fulfill({ status: 412, json: { code: 'precondition_failed', message: 'It was changed' } })
        : route.fallback();
    });
    await other.getByRole('button', { name: 'Save the schedule' }).click();
    await other.getByRole('alert').filter({ hasText: 'Someone else has changed the schedule' }).waitFor();
    await other.getByRole('button', { name: 'Take theirs' }).waitFor();
    assert.equal(reads.length, 1);
    await other.context().close();
  });

  test('a lifetime of hours counts down in the head of the page', async () => {
    await open();
    await page.getByText('Hours from now', { exact: true }).click();
    await page.getByLabel('Hours', { exact: true }).fill('5');
    await page.getByRole('button', { name: 'Save the lifetime' }).click();
    await page.getByText(/^expires in (5 h|4 h 59 min)$/).waitFor();
    const { lifespanEndAt } = await environment();
    const hours = (Date.parse(lifespanEndAt ?? '') - Date.now()) / hour;
    assert.ok(hours > 4.9 && hours < 5.1, String(hours));
  });

  test('the page says what the policy allows, and refuses invalid hours at their field', async () => {
    await service.client.call('updateOrganizationPolicies', {
      params: { id: home.organizationId },
      body: { maxTtl: '2-d' },
    });
    await open();
    await page.getByText(/The organization allows 2 days from the creation/).waitFor();
    const policy = (body: object) =>
      service.client.call('updatePolicy', { body: { projectId: home.projectId, ...body } });
    await policy({ maxTtl: '3-w' });
    await page.getByText(/The policy of the project allows 3 weeks from the creation/).waitFor();
    await policy({ maxTtl: 'inherit', defaultTtl: 'inherit' });
    await page.getByText(/The organization allows 2 days from the creation/).waitFor();
    await page.getByText('Hours from now', { exact: true }).click();
    await page.getByLabel('Hours', { exact: true }).fill('0');
    await page.getByText('A whole number of hours', { exact: true }).waitFor();
  });

  test('checks for drift get a schedule of their own', async () => {
    await open('drift');
    await page.getByRole('heading', { name: 'It was never checked for drift' }).waitFor();
    await turn('Check for drift on a schedule');
    await page.getByRole('button', { name: 'Examples for: When' }).click();
    await page.getByRole('menuitem', { name: /^Every Sunday/ }).click();
    await part('Schedule of checks').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The schedule of drift checks is saved').waitFor();
    const { cron, enabled } = await service.client.call('getDriftSchedule', { params: { id } });
    assert.deepEqual([cron, enabled], ['0 2 * * 0', true]);
  });

  test('a schedule, a lifetime and a schedule of checks that are not saved are left only after a question', async () => {
    const leave = () => page.getByRole('tab', { name: 'State' }).click();
    await open();
    await turn('Deploy on a schedule');
    const field = page.getByRole('textbox', { name: 'Deploy at' });
    assert.deepEqual(await withAnswers(page, [false], leave), ['Leave without saving the changed schedule?']);
    await field.waitFor();
    await part('Schedule').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('No end', { exact: true }).click();
    assert.deepEqual(await withAnswers(page, [true], leave), ['Leave without saving the changed lifetime?']);
    await open('drift');
    await turn('Check for drift on a schedule');
    assert.deepEqual(await withAnswers(page, [true], leave), [
      'Leave without saving the changed schedule of drift checks?',
    ]);
    await page.getByRole('tab', { name: 'State', selected: true }).waitFor();
  });

  test('nothing of it troubles the browser but what was refused', () => {
    const others = complaints.filter((text) => !/the server responded with a status of 4(00|12)/.test(text));
    assert.deepEqual(others, []);
  });
});
