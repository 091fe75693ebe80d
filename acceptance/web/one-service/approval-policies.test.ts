/** Approval policies in the browser. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { withToolbox } from '../../../tools/toolbox/places.ts';
import { createEnvironment, type Home, untilEnd } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { chooseOption, complaintsOf, withAnswers, withoutBrowser, withoutRuns } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const withoutOpa = withToolbox('opa').skip;

describe('approval policies in the browser', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;
  let complaints: string[];

  const open = (path: string) => page.goto(`${service.url}${path}`);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const policyOf = async (name: string) => {
    const { organizationId } = home;
    const all = await service.client.call('listApprovalPolicies', { query: { organizationId } });
    return all.find(({ policy }) => policy.name === name);
  };

  before(async () => {
    service = await joinWebService();
    home = service.home;
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('a policy of the catalogue is explained, configured by fields, and assigned', async () => {
    await open('/approval-policies');
    await page.getByText('No approval policies yet').waitFor();
    await page.getByRole('link', { name: 'Choose one from the catalogue' }).click();
    await page.getByRole('searchbox', { name: 'Name, cloud or text' }).fill('budget');
    await page.getByText('No public S3 buckets').waitFor({ state: 'detached' });
    await page
      .getByText(/maxCostIncrease. Needs|includeCostEstimation in the project/)
      .first()
      .waitFor();
    await button('Use Monthly costs do not rise unnoticed').click();
    await button('Create the policy').click();
    await page.getByText('This is required.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Budget');
    await page.getByLabel('Greatest increase').fill('250');
    await chooseOption(page, 'If it is more', 'deny');
    await button('Create the policy').click();
    await page.getByText('The policy is not assigned yet').waitFor();
    await chooseOption(page, 'Project', 'Default');
    await button('Assign').click();
    await button('Unassign from Default').waitFor();
    const entry = await policyOf('Budget');
    assert.deepEqual(entry?.policy.policyConfiguration, { maxCostIncrease: 250, onExceed: 'deny' });
    assert.deepEqual(
      entry?.assignments.map(({ scope, scopeId }) => [scope, scopeId]),
      [['PROJECT', home.projectId]],
    );
    await page.getByRole('tab', { name: 'Verdicts' }).click();
    await page.getByText('No plan has been evaluated yet').waitFor();
    await open('/approval-policies');
    await page.getByRole('cell', { name: 'project Default' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a policy of a repository is stored with its configuration as JSON, changed and deleted', async () => {
    await open('/approval-policies/new');
    await page.getByText('In a git repository').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Own rules');
    await page.getByLabel(/^Repository/).fill('https://git.example.com/rules.git');
    await page.getByLabel('Folder').fill('rules');
    await page.getByLabel('JSON object').fill('[1]');
    await button('Create the policy').click();
    await page.getByText('This must be a JSON object').waitFor();
    const leave = () => page.getByRole('link', { name: 'Calendar' }).click();
    assert.deepEqual(await withAnswers(page, [false], leave), ['Leave without creating the policy?']);
    assert.equal(await page.getByLabel('Folder').inputValue(), 'rules');
    await page.getByLabel('JSON object').fill('{"limit": 3}');
    await button('Create the policy').click();
    await page.getByText('The policy is not assigned yet').waitFor();
    await button('Edit').click();
    await page.getByLabel('Folder').fill('../out');
    await button('Save').click();
    await page
      .getByText(/Is refused: path/i)
      .first()
      .waitFor();
    await page.getByLabel('Folder').fill('stricter');
    await button('Save').click();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByText('https://git.example.com/rules.git//stricter').waitFor();
    assert.deepEqual((await policyOf('Own rules'))?.policy.policyConfiguration, { limit: 3 });
    await button('Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Own rules was deleted').waitFor();
    assert.equal(await policyOf('Own rules'), undefined);
  });

  test('the schema of a policy in a repository becomes fields, and no one overwrites a change by another user', async () => {
    const schema = {
      properties: {
        people: { type: 'integer', title: 'People', minimum: 1, maximum: 5, default: 2 },
        note: { type: 'string', title: '<b>Note</b>' },
      },
    };
    const { path } = await makeRepository(service.folder, 'schemas', {
      'two/two.rego': 'package envarium\n',
      'two/configurationSchema.json': JSON.stringify(schema),
    });
    await open('/approval-policies/new');
    await page.getByText('In a git repository').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Several');
    await page.getByLabel(/^Repository/).fill(path);
    await page.getByLabel('Folder').fill('gone');
    await page.getByText(/"gone" is not a folder of the repository/).waitFor();
    await page.getByLabel('Folder').fill('two');
    await page.getByLabel('People').fill('7');
    await button('Create the policy').click();
    await page.getByText('7 is too large: at most 5.').waitFor();
    await page.getByLabel('People').fill('3');
    await page.getByLabel('<b>Note</b>').fill('look');
    await button('Create the policy').click();
    await page.getByText('The policy is not assigned yet').waitFor();
    const { policy } = (await policyOf('Several')) ?? {};
    assert.deepEqual(policy?.policyConfiguration, { people: 3, note: 'look' });
    await button('Edit').click();
    await page.getByLabel('People').fill('4');
    const body = { id: policy.id, name: 'Several', repository: path, path: 'two' };
    await service.client.call('updateApprovalPolicy', { body });
    await button('Save').click();
    await page.getByText('Someone else has changed this policy in the meantime').waitFor();
    assert.equal(await page.getByLabel('People').inputValue(), '4');
    await button('Save').click();
    await page.getByText('Saved: the next plans are checked by it').waitFor();
    assert.deepEqual((await policyOf('Several'))?.policy.policyConfiguration, { people: 4, note: 'look' });
  });

  test('a policy is tested against a stored plan, also with another configuration', {
    skip: withoutOpa || withoutRuns,
  }, async () => {
    const { client, folder } = service;
    const { path } = await makeRepository(folder, 'tested', {
      'policy.rego': `package envarium
deny contains msg if {
  count(input.plan.resource_changes) > input.policyConfiguration.most
  msg := "<i>too many</i>"
}
allow contains "few" if count(input.plan.resource_changes) <= input.policyConfiguration.most
`,
    });
    const code = await makeRepository(folder, 'planned', { 'main.tf': 'resource "terraform_data" "a" {}\n' });
    const { organizationId } = home;
    const unchecked = await client.call('createProject', { body: { organizationId, name: 'Unchecked' } });
    const made = await createEnvironment(
      client,
      { organizationId, projectId: unchecked.id },
      { name: 'judged', repository: code.path },
    );
    await untilEnd(client, made.deploymentId);
    const { id } = await client.call('createApprovalPolicy', {
      body: {
        ...{ organizationId, name: 'Few', repository: path },
        policyConfiguration: { most: 0 },
      },
    });
    await open(`/approval-policies/${id}?tab=test`);
    await chooseOption(page, 'Environment', 'judged');
    await button('Test').click();
    const result = page.getByRole('region', { name: 'Result of the test' });
    await result.getByText('Denied').waitFor();
    await result.getByText('<i>too many</i>').waitFor();
    await page.getByLabel('JSON object').fill('{"most": 5}');
    await result.waitFor({ state: 'detached' });
    await button('Test').click();
    await result.getByText('Allowed').waitFor();
    assert.deepEqual((await policyOf('Few'))?.policy.policyConfiguration, { most: 0 });
    assert.deepEqual(complaints, []);
  });

  test('a policy that is gone says so', async () => {
    await open('/approval-policies/019366a0-0000-7000-8000-000000000001');
    await page.getByText('There is no such approval policy').waitFor();
  });
});
