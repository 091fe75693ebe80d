/** Costs of a deployment: by the real infracost, in a run of the service's own agent, and in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../command-line.ts';
import { startPricedMachines, withoutPrices } from '../priced-machines.ts';
import { createEnvironment, homeOf, untilEnd, untilStatus } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { complaintsOf, openPage, signIn, startBrowser, startWebService, withoutBrowser } from './browser.ts';

const skip = withoutBrowser || withoutPrices;

test('a plan that waits says what it costs, in the browser and in the terminal', { skip }, async (t) => {
  const { prices, settings } = await startPricedMachines(t, 'planted-agents-key');
  const browser = await startBrowser();
  t.after(() => browser.close());
  await using service = await startWebService({ settings });
  const { client } = service;
  const { good } = commandLine(() => service);
  const home = await homeOf(client);
  const { projectId } = home;
  await client.call('updatePolicy', { body: { projectId, includeCostEstimation: true } });
  const repository = await makeRepository(service.folder, 'code', {
    'main.tf': 'resource "terraform_data" "one" {}\n',
  });
  const request = { repository: repository.path, requiresApproval: true };
  const { deploymentId: id } = await createEnvironment(client, home, { ...request, name: 'machines' });
  const waiting = await untilStatus(client, id, 'WAITING_FOR_USER');
  assert.deepEqual(
    [waiting.costEstimation?.totalMonthlyCost, waiting.costEstimation?.monthlyCostDiff],
    [151.8, 78],
  );

  const page = await openPage(browser);
  const complaints = complaintsOf(page);
  await signIn(page, service.url);
  await page.goto(`${service.url}/deployments/${id}`);
  await page.getByRole('tab', { name: 'Costs' }).click();
  await page.getByText('151.80 USD a month, +78.00 USD by this deployment').waitFor();
  const rows = page.getByRole('region', { name: 'Costs' }).getByRole('row');
  assert.match(await rows.nth(1).innerText(), /aws_instance\.web\s+78\.00\s+\+4\.20/);
  assert.match(await rows.nth(2).innerText(), /aws_instance\.worker-s3cret\s+73\.80\s+\+73\.80/);
  await page.goto(`${service.url}/environments`);
  await page
    .getByRole('row', { name: /machines/ })
    .getByText('+78.00 USD')
    .waitFor();
  assert.deepEqual(complaints, []);

  assert.match(await good`deployments show ${id}`, /Costs: +\+78\.00 USD a month, 151\.80 in all/);
  assert.doesNotMatch(service.log(), /planted-agents-key/);

  // Without prices, the run continues, and the page says where the reason is.
  prices.mood = 'refuses';
  const { deploymentId: other } = await createEnvironment(client, home, {
    ...request,
    requiresApproval: false,
    name: 'other',
  });
  assert.equal((await untilEnd(client, other)).costEstimation, null);
  await page.goto(`${service.url}/deployments/${other}?tab=costs`);
  await page.getByRole('link', { name: 'The log of the step cost:estimation says why' }).click();
  await page
    .getByText(/infracost ended with exit code 1: Invalid API Key/)
    .first()
    .waitFor();
});
