/** The queue of an environment, and what follows from its deployments, in the browser. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createEnvironment, type Home, untilStatus } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { chooseOption, complaintsOf, withoutRuns } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const hostile = '<img src=x onerror=alert(1)> שלום 🚀';

describe('the queue and what follows, in the browser', { skip: withoutRuns }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let home: Home;
  let id: string;
  let waiting: string;
  let followerId: string;

  const open = (tab: string) => page.goto(`${service.url}/environments/${id}?tab=${tab}`);
  const deploy = () => service.client.call('deployEnvironment', { params: { id }, body: {} });
  const downstream = () => service.client.call('listDownstream', { params: { id } });

  before(async () => {
    service = await joinWebService();
    home = service.home;
    const { path: repository } = await makeRepository(service.folder, 'code', { 'main.tf': '' });
    const made = await createEnvironment(service.client, home, {
      name: 'network',
      repository,
      requiresApproval: true,
    });
    id = made.id;
    waiting = made.deploymentId;
    const request = { repository, preventAutoDeploy: true };
    await untilStatus(service.client, waiting, 'WAITING_FOR_USER');
    followerId = (await createEnvironment(service.client, home, { ...request, name: hostile })).id;
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('an environment is added to what follows, by its name, and removed again', async () => {
    await open('settings');
    const section = page.getByRole('group', { name: 'What follows' });
    await section.getByText('Nothing is deployed after it.').waitFor();
    await chooseOption(page, 'Deploy after it', hostile);
    await section.getByRole('button', { name: 'Add' }).click();
    const list = section.getByRole('list', { name: 'Deployed after it' });
    await list.getByRole('link', { name: hostile }).waitFor();
    assert.deepEqual(
      (await downstream()).map((each) => each.id),
      [followerId],
    );
    await section.getByRole('button', { name: `Remove ${hostile}` }).click();
    await section.getByText('Nothing is deployed after it.').waitFor();
    assert.deepEqual(await downstream(), []);
  });

  test('a cycle is refused with the way around, and what was chosen stays', async () => {
    await service.client.call('setDownstream', {
      params: { id: followerId },
      body: { downstreamEnvironmentIds: [id] },
    });
    await open('settings');
    const section = page.getByRole('group', { name: 'What follows' });
    await chooseOption(page, 'Deploy after it', hostile);
    await section.getByRole('button', { name: 'Add' }).click();
    await section.getByRole('alert').filter({ hasText: 'makes a cycle' }).waitFor();
    assert.equal(await section.getByRole('combobox', { name: 'Deploy after it' }).inputValue(), hostile);
  });

  test('what happens after drift is chosen with the schedule of checks', async () => {
    await open('drift');
    const form = page.getByRole('region', { name: 'Schedule of checks' });
    await form.getByRole('switch', { name: 'Check for drift on a schedule' }).click({ force: true });
    await chooseOption(page, 'When drift is found', 'Deploy the newest code');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The schedule of drift checks is saved').waitFor();
    const { enabled, autoDriftRemediation } = await service.client.call('getDriftSchedule', {
      params: { id },
    });
    assert.deepEqual([enabled, autoDriftRemediation], [true, 'CODE_TO_CLOUD']);
  });

  test('a skipped deployment names the one in its place', async () => {
    await service.client.call('updatePolicy', {
      body: { projectId: home.projectId, skipRedundantDeployments: true },
    });
    const [first, second] = [await deploy(), await deploy()];
    await page.goto(`${service.url}/deployments/${first.id}`);
    await page.getByText(/^Queued behind/).waitFor();
    await service.client.call('cancelDeployment', { params: { id: waiting }, body: {} });
    await page.getByText('Skipped: a later deployment made it redundant').waitFor();
    await page.getByRole('link', { name: 'Show the deploy in its place' }).click();
    await page.waitForURL(`${service.url}/deployments/${second.id}`);
  });

  test('all that is queued is cancelled after a question, and what runs or waits continues', async () => {
    const queued = [await deploy(), await deploy()];
    await open('overview');
    await page.getByRole('button', { name: 'Cancel all 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel 2 queued deployments' });
    await dialog.getByText(/^What is running or waits for approval continues/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel all' }).click();
    await dialog.waitFor({ state: 'hidden' });
    for (const each of queued) {
      const { status } = await service.client.call('getDeployment', { params: { id: each.id } });
      assert.equal(status, 'CANCELLED');
    }
    // The cycle, which the browser notes.
    assert.deepEqual(
      complaints.filter((each) => !each.includes('400 (Bad Request)')),
      [],
    );
  });
});
