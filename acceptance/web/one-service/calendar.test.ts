/** The calendar in the browser: what happens to which environment, and when. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createEnvironment, type Home } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { chooseOption, complaintsOf, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

describe('the calendar in the browser', { skip: withoutBrowser }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let home: Home;
  let repository: string;
  let otherProject: string;

  const make = async (name: string, more: object = {}) =>
    (await createEnvironment(service.client, home, { name, repository, preventAutoDeploy: true, ...more }))
      .id;
  const rows = () => page.getByRole('main').getByRole('listitem');

  before(async () => {
    service = await joinWebService();
    home = service.home;
    ({ path: repository } = await makeRepository(service.folder, 'code', { 'main.tf': '' }));
    const { organizationId } = home;
    otherProject = (
      await service.client.call('createProject', { body: { organizationId, name: 'elsewhere' } })
    ).id;
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('without timers, it says where they come from', async () => {
    await page.goto(`${service.url}/calendar`);
    await page.getByRole('heading', { name: 'Nothing is scheduled in this period' }).waitFor();
  });

  test('schedules and ends of lifetimes appear day by day while the page is open, held ones with the reason', async () => {
    const id = await make('shop');
    // Far from now: the days of the page begin with this hour.
    const hour = String((new Date().getUTCHours() + 12) % 24);
    await service.client.call('updateEnvironmentSchedule', {
      params: { id },
      body: { deploy: { cron: `30 ${hour} * * *`, timeZone: 'Europe/Berlin' } },
    });
    await make('trial', { ttl: { type: 'HOURS', value: '60' }, projectId: otherProject });
    await page
      .getByText(new RegExp(`every day at ${hour.padStart(2, '0')}:30 Europe/Berlin`, 'i'))
      .first()
      .waitFor();
    await page.getByText('End of lifetime', { exact: true }).waitFor();
    await page
      .getByText(/^Held\. It was never deployed: schedules begin/)
      .first()
      .waitFor();
    assert.equal(await page.getByRole('link', { name: 'shop' }).count(), 7);
    assert.equal(await page.getByRole('heading', { level: 2, name: /^Tomorrow, / }).count(), 1);
  });

  test('it is narrowed to a project and to a kind, and the address keeps that', async () => {
    await page.getByText('Ends of lifetimes', { exact: true }).click();
    await page.getByRole('link', { name: 'shop' }).first().waitFor({ state: 'detached' });
    await chooseOption(page, 'Project', 'elsewhere');
    await page.waitForURL((url) => url.searchParams.get('project') === otherProject);
    await page.reload();
    await page.getByText('End of lifetime', { exact: true }).waitFor();
    assert.equal(await rows().filter({ hasText: 'trial' }).count(), 4, 'three notices and the end');
    assert.match(page.url(), /show=ends/);
  });

  test('an environment is opened with the keyboard', async () => {
    await page.getByRole('link', { name: 'trial' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'trial' }).waitFor();
  });

  test('the time zone of a schedule stays when another part of it is changed', async () => {
    const id = await make('zoned');
    await service.client.call('updateEnvironmentSchedule', {
      params: { id },
      body: { deploy: { cron: '0 6 * * *', timeZone: 'Europe/Berlin' } },
    });
    await page.goto(`${service.url}/environments/${id}?tab=schedule`);
    await page.getByText('every day at 06:00 Europe/Berlin').waitFor();
    await page.getByRole('textbox', { name: 'Deploy at', exact: true }).fill('0 7 * * *');
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText('The schedule is saved').waitFor();
    const { deploy } = await service.client.call('getEnvironmentSchedule', { params: { id } });
    assert.deepEqual([deploy?.cron, deploy?.timeZone], ['0 7 * * *', 'Europe/Berlin']);
  });

  test('nothing of it troubles the browser', () => {
    assert.deepEqual(complaints, []);
  });
});
