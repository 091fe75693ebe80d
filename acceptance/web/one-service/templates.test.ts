/** Templates, variables and configuration sets in the browser. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createEnvironment, type Home } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { chooseOption, complaintsOf, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const code = `variable "size" {
  type        = number
  default     = 2
  description = "How many"
}
`;

describe('templates and variables in the browser', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;
  let repository: string;
  let complaints: string[];

  const open = (path: string) => page.goto(`${service.url}${path}`);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const tab = (name: RegExp) => page.getByRole('tab', { name }).click();
  const choose = (label: string, option: string | RegExp) => chooseOption(page, label, option);
  const templateOf = async (name: string) => {
    const { organizationId } = home;
    const [found] = await service.client.call('listTemplates', { query: { organizationId, name } });
    return found;
  };
  const createTemplate = (name: string) =>
    service.client.call('createTemplate', {
      body: {
        ...{ organizationId: home.organizationId, name, repository, type: 'terraform', path: 'infra' },
        projectIds: [home.projectId],
        githubInstallationId: 7,
      },
    });

  before(async () => {
    service = await joinWebService();
    home = service.home;
    repository = (await makeRepository(service.folder, 'network', { 'infra/main.tf': code })).path;
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('a template is created, gets a variable of its code, and is found in the list', async () => {
    await open('/templates');
    await page.getByText('No templates yet').waitFor();
    await button('New template').click();
    await button('Create the template').click();
    await page.getByText('A name is required.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Network');
    await page.getByLabel(/^Repository/).fill(repository);
    await page.getByLabel('Folder').fill('infra');
    await page.getByLabel('Deploys: how often').fill('2');
    await choose('Can use it', 'Default');
    await page.keyboard.press('Escape');
    await button('Create the template').click();
    await page.getByLabel('Value of size').fill('4');
    await button('Save').click();
    await page.getByText('One variable was saved').waitFor();
    const template = await templateOf('Network');
    assert.deepEqual(template?.retry, { onDeploy: { times: 2 } });
    assert.deepEqual(template?.projectIds, [home.projectId]);
    const { organizationId } = home;
    const query = { organizationId, blueprintId: template?.id ?? '' };
    const [size] = await service.client.call('listVariables', { query });
    assert.deepEqual([size?.name, size?.value, size?.scope], ['size', '4', 'BLUEPRINT']);
    await open('/templates?type=helm');
    await page.getByText('No matching templates').waitFor();
    await open('/templates?q=netw');
    await page.getByRole('link', { name: 'Network' }).click();
    await page.getByRole('heading', { name: 'Network' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a change keeps what the form does not show, and says when another user was faster', async () => {
    const { id = '', ...before } = await createTemplate('Shared');
    await open(`/templates/${id}`);
    await button('Edit').click();
    await page.getByLabel('Description').fill('mine');
    await service.client.call('updateTemplate', {
      params: { id },
      body: {
        ...{ name: 'Shared', type: 'terraform', repository, path: 'infra', description: 'theirs' },
        githubInstallationId: 7,
      },
    });
    await button('Save').click();
    await page.getByText('Someone else has changed this template in the meantime').waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'mine');
    await button('Save').click();
    await page.getByRole('tab', { name: 'Settings' }).waitFor();
    const after = await templateOf('Shared');
    assert.equal(after?.description, 'mine');
    assert.deepEqual([after?.githubInstallationId, after?.path], [before.githubInstallationId, before.path]);
  });

  test('who uses a template keeps it from being deleted, and is named', async () => {
    const { id = '' } = await createTemplate('Used');
    const created = await service.client.call('createEnvironment', {
      body: {
        ...{ name: 'its user', projectId: home.projectId, preventAutoDeploy: true },
        deployRequest: { blueprintId: id },
      },
    });
    await open(`/templates/${id}?tab=environments`);
    await page.getByRole('link', { name: 'its user' }).waitFor();
    const remove = button('Delete');
    await remove.hover();
    await page.getByText('Used by its user.').waitFor();
    await service.client.call('deleteEnvironment', { params: { id: created.id } });
    await page.getByText('No environment uses this template').waitFor();
    await remove.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/templates');
    assert.equal(await templateOf('Used'), undefined);
  });

  test('projects get and lose a template', async () => {
    const { id = '' } = await createTemplate('Moving');
    await open(`/templates/${id}?tab=projects`);
    await page.getByRole('button', { name: 'Remove from Default' }).click();
    await page.getByText('No project may use this template yet').waitFor();
    await choose('Add to a project', 'Default');
    await button('Add').click();
    await page.getByRole('link', { name: 'Default' }).waitFor();
    assert.deepEqual((await templateOf('Moving'))?.projectIds, [home.projectId]);
  });

  test('variables of a project say what they hide, are added, overridden and deleted', async () => {
    const { organizationId, projectId } = home;
    await service.client.call('saveVariables', {
      body: [{ name: 'region', value: 'eu', type: 1, scope: 'GLOBAL', organizationId }],
    });
    await open(`/variables?scope=project&id=${projectId}`);
    await page.getByText('organization', { exact: true }).waitFor();
    await page.getByLabel('Value of region').fill('us');
    await button('Add a variable').click();
    await page.getByLabel('Name of the new variable').fill('9wrong');
    await button('Save').click();
    await page.getByText(/no digit or - first/).waitFor();
    await page.getByLabel('Name of the new variable').fill('zone');
    await page.getByLabel('Value of zone').fill('b');
    await button('Save').click();
    await page.getByText('2 variables were saved').waitFor();
    await page.getByText(/^hides/).waitFor();
    await button('Delete zone').click();
    await button('Save').click();
    await page.getByLabel('Value of zone').waitFor({ state: 'detached' });
    const rows = await service.client.call('listVariables', { query: { organizationId, projectId } });
    assert.deepEqual(
      rows.map(({ name, value, overwrites }) => [name, value, overwrites?.value]),
      [['region', 'us', 'eu']],
    );
    assert.deepEqual(complaints, []);
  });

  test('a configuration set is made, filled, assigned, kept while it is assigned, and deleted', async () => {
    await createEnvironment(service.client, home, {
      name: 'web',
      repository,
      path: 'infra',
      preventAutoDeploy: true,
    });
    await open('/configuration-sets');
    await page.getByText('No configuration sets yet').waitFor();
    await button('New set').click();
    await page.getByLabel(/^Name/).fill('aws');
    await button('Create').click();
    await button('Add a variable').click();
    await page.getByLabel('Name of the new variable').fill('AWS_REGION');
    await page.getByLabel('Value of AWS_REGION').fill('eu-west-1');
    await button('Save').click();
    await page.getByText(/The set was saved/).waitFor();
    await tab(/^Assigned to/);
    await choose('Assign to', 'environment');
    await choose('Environment', 'web');
    await button('Assign').click();
    await page.getByRole('link', { name: 'web' }).waitFor();
    await button('Delete').hover();
    await page.getByText('Used by environment web.').waitFor();
    await page.getByRole('button', { name: 'Unassign from web' }).click();
    await page.getByText('The set is not assigned yet').waitFor();
    await button('Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No configuration sets yet').waitFor();
    assert.deepEqual(complaints, []);
  });
});
