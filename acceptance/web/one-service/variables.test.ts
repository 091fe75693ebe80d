/** The variables of an environment in the browser: where they are from, what they hide, and how they are changed. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createEnvironment, type Home, until, untilEnd } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, holdRequest, withoutRuns } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const configuration = `variable "region" {
  type        = string
  default     = "eu"
  description = "Where everything is"
}

variable "size" {
  type    = number
  default = 2
}

variable "is_public" {
  type    = bool
  default = false
}

output "all" {
  value = "\${var.region} \${var.size} \${var.is_public}"
}
`;

describe('variables in the browser', { skip: withoutRuns }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let home: Home;
  let id: string;

  const open = () => page.goto(`${service.url}/environments/${id}?tab=variables`);
  const row = (name: string): Locator =>
    page.getByRole('list', { name: 'Variables' }).getByRole('listitem').filter({ hasText: name });
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const ofEnvironment = async () => {
    const query = { organizationId: home.organizationId, environmentId: id };
    const all = await service.client.call('listVariables', { query });
    return all.map(({ name, value, scope }) => [name, value, scope]);
  };
  const save = async () => {
    await button('Save').click();
    await page.getByText('not saved yet').waitFor({ state: 'detached' });
  };

  before(async () => {
    service = await joinWebService();
    home = service.home;
    const { organizationId, projectId } = home;
    const { path } = await makeRepository(service.folder, 'code', { 'main.tf': configuration });
    const inProject = { scope: 'PROJECT', scopeId: projectId, organizationId, type: 1 } as const;
    await service.client.call('saveVariables', {
      body: [{ ...inProject, name: 'region', value: 'us', regex: '^[a-z]+$' }],
    });
    const made = await createEnvironment(service.client, home, {
      ...{ name: 'web', repository: path, preventAutoDeploy: true },
      configurationChanges: [{ name: 'TOKEN', value: 'a secret of today', type: 0, isSensitive: true }],
    });
    id = made.id;
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('each says where it is from, also those that only the code has', async () => {
    await open();
    await row('region').getByText('project Default').waitFor();
    await row('region').getByText('Where everything is').waitFor();
    await row('size').getByText('default of the code').waitFor();
    await row('TOKEN').getByText('this environment').waitFor();
    assert.equal(await page.getByLabel('Value of TOKEN').inputValue(), '');
  });

  test('a value that breaks a rule is not sent, and says so at its field', async () => {
    await open();
    await page.getByLabel('Value of region').fill('EU 1');
    await row('region').getByText('Must match ^[a-z]+$').waitFor();
    await button('Save').click();
    await page.getByText('1 change, not saved yet').waitFor();
    await button('Discard').click();
    assert.equal(await page.getByLabel('Value of region').inputValue(), 'us');
  });

  test('an inherited value is overridden here, and says what it hides', async () => {
    await open();
    await page.getByLabel('Value of region').fill('asia');
    await row('region').getByText('overrides').waitFor();
    await save();
    await row('region').getByText('hides us of the project').waitFor();
    assert.deepEqual(
      (await ofEnvironment()).find(([name]) => name === 'region'),
      ['region', 'asia', 'ENVIRONMENT'],
    );
  });

  test('a secret stays what it is while its description changes', async () => {
    await open();
    await button('Settings of TOKEN').click();
    await row('TOKEN').getByLabel('Description').fill('for the forge');
    await save();
    await row('TOKEN').getByRole('paragraph').filter({ hasText: 'for the forge' }).waitFor();
    const { id: deploymentId } = await service.client.call('deployEnvironment', {
      params: { id },
      body: { deploymentType: 'deploy', userRequiresApproval: false },
    });
    await untilEnd(service.client, deploymentId);
    const task = { deploymentType: 'task', taskPayload: 'test "$TOKEN" = "a secret of today"' } as const;
    const ran = await service.client.call('deployEnvironment', { params: { id }, body: task });
    await untilEnd(service.client, ran.id);
  });

  test('fields fit the types of the code, and a deployment takes the changes along', async () => {
    await open();
    await page.getByRole('switch', { name: 'Value of is_public' }).click({ force: true });
    await page.getByLabel('Value of size').fill('three');
    await row('size').getByText('A number is required').waitFor();
    await page.getByLabel('Value of size').fill('3');
    await button('Save and deploy').click();
    await page.getByText('not saved yet').waitFor({ state: 'detached' });
    const params = { id };
    const all = await until('the output', async () => {
      const { latestDeploymentLog } = await service.client.call('getEnvironment', { params });
      return latestDeploymentLog.status === 'SUCCESS' && latestDeploymentLog.output?.['all']?.value;
    });
    assert.equal(all, 'asia 3 true');
  });

  test('what other people change shows at once, and what was typed stays', async () => {
    await open();
    await page.getByLabel('Value of size').fill('7');
    const { organizationId } = home;
    const body = [
      { name: 'owner', value: 'ada', type: 1, scope: 'ENVIRONMENT', scopeId: id, organizationId },
    ] as const;
    await service.client.call('saveVariables', { body: [...body] });
    await row('owner').waitFor();
    assert.equal(await page.getByLabel('Value of size').inputValue(), '7');
    await button('Discard').click();
  });

  test('conflicting changes by two people to a variable are reported, and other changes stay', async () => {
    const { organizationId } = home;
    const store = (fields: { value: string } | { description: string }) =>
      service.client.call('saveVariables', {
        body: [
          { name: 'owner', type: 1, scope: 'ENVIRONMENT', scopeId: id, organizationId, ...fields } as const,
        ],
      });
    await open();
    await button('Settings of owner').click();
    await row('owner').getByLabel('Description').fill('who answers');
    await store({ value: 'grace' });
    await until(
      'the value of the other person',
      async () => (await page.getByLabel('Value of owner').inputValue()) === 'grace',
    );
    await page.getByLabel('Value of owner').fill('mine');
    await store({ value: 'theirs' });
    await row('owner')
      .getByText('Someone else has changed it in the meantime: the value is now theirs')
      .waitFor();
    await button('Undo owner').click();
    assert.equal(await page.getByLabel('Value of owner').inputValue(), 'theirs');
    await row('owner').getByText('Someone else').waitFor({ state: 'detached' });
  });

  test('what is typed while a save is under way is still to be saved', async () => {
    await open();
    const letGo = await holdRequest(page, 'POST', '/api/configuration');
    await page.getByLabel('Value of owner').fill('first');
    await button('Save').click();
    await page.getByLabel('Value of owner').fill('second');
    await letGo();
    await page.getByText('Saved. The next deployment uses it.').waitFor();
    assert.equal(await page.getByLabel('Value of owner').inputValue(), 'second');
    await save();
    assert.ok((await ofEnvironment()).some(([name, value]) => name === 'owner' && value === 'second'));
  });

  test('a new one is added, and deleted', async () => {
    await open();
    await button('Add a variable').click();
    await button('Save').click();
    await page.getByText('A name is required').waitFor();
    await page.getByLabel('Name of the new variable').fill('team');
    await page.getByLabel('Value of team').fill('blue');
    await save();
    assert.ok((await ofEnvironment()).some(([name, value]) => name === 'team' && value === 'blue'));
    await button('Delete team').click();
    await row('team').getByText('will be deleted').waitFor();
    await save();
    await row('team').waitFor({ state: 'detached' });
    assert.ok(!(await ofEnvironment()).some(([name]) => name === 'team'));
  });

  test('nothing of it troubles the browser', () => assert.deepEqual(complaints, []));
});
