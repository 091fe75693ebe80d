/** Environments created in the browser: from a template, from a repository, and with everything wrong. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Home, untilStatus } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { chooseOption, complaintsOf, holdRequest, withoutRuns } from '../browser.ts';
import { admin } from '../showcase.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const code = `variable "region" {
  type        = string
  default     = "eu-central-1"
  description = "Where everything is"
}

variable "stage" {
  type = string
  validation {
    condition     = contains(["dev", "prod"], var.stage)
    error_message = "dev or prod"
  }
}

variable "size" {
  type    = number
  default = 2
}

variable "ha" {
  type    = bool
  default = false
}

variable "zones" {
  type    = list(string)
  default = ["a"]
}

variable "token" {
  type      = string
  default   = ""
  sensitive = true
}

resource "terraform_data" "it" {
  input = [var.region, var.stage, var.size, var.ha, var.zones]
}
`;

describe('creating an environment in the browser', { skip: withoutRuns, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;
  let templateId: string;
  let repository: string;
  let complaints: string[];

  const next = (step: string) => page.getByRole('button', { name: `Next: ${step}` }).click();
  const value = (name: string) => page.getByLabel(`Value of ${name}`, { exact: true });
  const choose = (label: string, option: string) => chooseOption(page, label, option, { exact: true });
  const deploymentId = async () => {
    await page.waitForURL('**/deployments/*');
    return new URL(page.url()).pathname.split('/').at(-1) ?? '';
  };
  const variablesOf = async (id: string) => {
    const { organizationId } = home;
    const rows = await service.client.call('listVariables', {
      query: { organizationId, deploymentLogId: id },
    });
    return new Map(rows.map((row) => [row.name, row.value]));
  };

  before(async () => {
    service = await joinWebService();
    home = service.home;
    repository = (await makeRepository(service.folder, 'network', { 'infra/main.tf': code })).path;
    const { organizationId, projectId } = home;
    const template = await service.client.call('createTemplate', {
      body: {
        ...{ organizationId, repository, name: 'Network', type: 'terraform', path: 'infra' },
        projectIds: [projectId],
      },
    });
    templateId = template.id ?? '';
    const at = { scope: 'PROJECT', scopeId: projectId, organizationId } as const;
    await service.client.call('saveVariables', {
      body: [{ name: 'region', type: 1, value: 'eu-west-1', ...at }],
    });
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('from a template: each variable has the field that its definition wants, and the first run begins', async () => {
    await page.goto(`${service.url}/environments/new?template=${templateId}`);
    await next('Settings');
    await page.getByRole('textbox', { name: 'Name' }).fill('staging');
    await next('Variables');
    const region = page.getByRole('listitem').filter({ has: value('region') });
    await region.getByText('project Default').waitFor();
    await choose('Value of stage', 'prod');
    await value('size').fill('5');
    assert.equal(await value('ha').getAttribute('type'), 'checkbox');
    await value('ha').check();
    await value('zones').fill('["a", "b"]');
    assert.equal(await value('token').getAttribute('type'), 'password');
    await value('token').fill('very secret');
    await next('Preview');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('terraform plan').waitFor();
    const text = (await preview.textContent()) ?? '';
    assert.match(text, /stage = prod/);
    assert.match(text, /size = 5 instead of 2/);
    assert.doesNotMatch(text, /very secret/);
    assert.match(text, /envarium environment create staging --project \S+ --template \S+/);
    await page.getByRole('button', { name: 'Create and deploy' }).click();
    const id = await deploymentId();
    const planned = await untilStatus(service.client, id, 'WAITING_FOR_USER');
    assert.equal(planned.status, 'WAITING_FOR_USER', planned.error?.message);
    const variables = await variablesOf(id);
    assert.deepEqual(
      ['region', 'stage', 'size', 'ha', 'token'].map((name) => variables.get(name)),
      ['eu-west-1', 'prod', '5', 'true', '********'],
    );
    assert.deepEqual(JSON.parse(variables.get('zones') ?? ''), ['a', 'b']);
    assert.deepEqual(complaints, []);
  });

  test('a click on Next is not lost while the projects are read, nor one on Create while the variables are', async () => {
    const sendProjects = await holdRequest(page, 'GET', '/api/projects');
    await page.goto(`${service.url}/environments/new?template=${templateId}`);
    await next('Settings');
    await sendProjects();
    await page.getByRole('textbox', { name: 'Name' }).fill('early');
    await page.getByRole('switch', { name: 'Deploy it now' }).click();
    await next('Variables');
    await value('size').fill('5');
    await next('Preview');
    const sendVariables = await holdRequest(page, 'GET', '/api/configuration');
    await page.reload();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await sendVariables();
    await page.waitForURL(/\/environments\/[0-9a-f-]{36}/);
    const environmentId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const query = { organizationId: home.organizationId, environmentId };
    const rows = await service.client.call('listVariables', { query });
    assert.equal(rows.find(({ name }) => name === 'size')?.value, '5');
    assert.deepEqual(complaints, []);
  });

  test('from a repository: tool, folder, tags, lifetime and no deployment', async () => {
    await page.goto(`${service.url}/environments/new?project=${home.projectId}`);
    await page.getByText('From a repository').click();
    await page.getByLabel(/^Repository/).fill(repository);
    await page.getByRole('combobox', { name: 'Revision' }).fill('main');
    await page.getByLabel('Folder').fill('infra');
    await next('Settings');
    await page.getByRole('textbox', { name: 'Name' }).fill('short lived');
    await page.getByRole('combobox', { name: 'Tags' }).fill('demo');
    await page.keyboard.press('Enter');
    await page.getByRole('switch', { name: 'Deploy it now' }).click();
    await page.getByText('Hours', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Hours' }).fill('5');
    await next('Variables');
    await value('region').waitFor();
    await next('Preview');
    await page.getByText('Some variables have no value').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.waitForURL(/\/environments\/[0-9a-f-]{36}/);
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const environment = await service.client.call('getEnvironment', { params: { id } });
    assert.deepEqual([environment.name, environment.tags], ['short lived', ['demo']]);
    assert.equal(environment.latestDeploymentLog.status, 'NEVER_DEPLOYED');
    const hours = (Date.parse(environment.lifespanEndAt ?? '') - Date.now()) / 3_600_000;
    assert.ok(hours > 4.9 && hours < 5.1, String(hours));
    assert.deepEqual(complaints, []);
  });

  test('each wrong field says so where it is, and what was typed stays', async () => {
    await page.goto(`${service.url}/environments/new`);
    await page.getByText('From a repository').click();
    await choose('Tool', 'CloudFormation');
    await next('Settings');
    await page.getByText('The address of the repository is required.').waitFor();
    await page.getByText(/is required with type cloudformation/).waitFor();
    await choose('Tool', 'Terraform');
    await page.getByLabel(/^Repository/).fill(repository);
    await page.getByLabel('Folder').fill('infra');
    await page.getByRole('combobox', { name: 'Version of Terraform' }).fill('one');
    await next('Settings');
    await page.getByText(/Three numbers such as 1\.5\.7/).waitFor();
    await page.getByRole('combobox', { name: 'Version of Terraform' }).fill('');
    await next('Settings');
    await page.getByLabel('Workspace').fill('a b');
    await page.getByLabel('Check for drift').fill('every day');
    await next('Variables');
    await page.getByText('A name is required.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor();
    await page.getByText(/At most 90 letters/).waitFor();
    await page.getByText(/Five fields/).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('wrong');
    await page.getByLabel('Workspace').fill('');
    await page.getByLabel('Check for drift').fill('99 * * * *');
    await next('Variables');
    await value('region').fill('mars');
    await next('Preview');
    await page.getByRole('button', { name: 'Create and deploy' }).click();
    await page
      .getByText(/valid cron expression/)
      .first()
      .waitFor();
    assert.equal(await page.getByLabel('Check for drift').inputValue(), '99 * * * *');
    await page.reload();
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'wrong');
    await page.getByLabel('Check for drift').fill('');
    await next('Variables');
    assert.equal(await value('region').inputValue(), 'mars');
  });

  test('a repository that cannot be read has its own state and blocks nothing', async () => {
    await page.goto(`${service.url}/environments/new`);
    await page.getByText('From a repository').click();
    await page.getByLabel(/^Repository/).fill('https://127.0.0.1:9/nothing.git');
    await next('Settings');
    await page.getByRole('textbox', { name: 'Name' }).fill('unreachable');
    await page.getByRole('switch', { name: 'Deploy it now' }).click();
    await next('Variables');
    await page.getByText('The variables of the code cannot be read').waitFor();
    await page
      .getByText(/cannot be reached by the service/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page.getByLabel('Name of the new variable').fill('zone');
    await value('zone').fill('b');
    await next('Preview');
    await page.getByText('zone = b').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.waitForURL(/\/environments\/[0-9a-f-]{36}/);
  });

  test('nothing is lost when the session ends in the middle', async () => {
    await page.goto(`${service.url}/environments/new?template=${templateId}`);
    await next('Settings');
    await page.getByRole('textbox', { name: 'Name' }).fill('after a pause');
    await page.getByRole('switch', { name: 'Deploy it now' }).click();
    await next('Variables');
    await value('token').fill('very secret');
    await next('Preview');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel(/^Password/).fill(admin.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('after a pause').first().waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.waitForURL(/\/environments\/[0-9a-f-]{36}/);
    const environmentId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const query = { organizationId: home.organizationId, environmentId };
    const rows = await service.client.call('listVariables', { query });
    assert.equal(rows.find(({ name }) => name === 'token')?.scope, 'ENVIRONMENT');
  });

  test('sent again after its answer was lost, and clicked twice, it is made once', async () => {
    await page.goto(`${service.url}/environments/new?template=${templateId}`);
    await next('Settings');
    await page.getByRole('textbox', { name: 'Name' }).fill('only once');
    await page.getByRole('switch', { name: 'Deploy it now' }).click();
    await next('Variables');
    await value('token').fill('very secret');
    await next('Preview');
    await page.route(
      '**/api/environments',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    const create = page.getByRole('button', { name: 'Create', exact: true });
    await create.click();
    await page.getByText('send it again when the service is back').waitFor();
    await create.dblclick();
    await page.waitForURL(/\/environments\/[0-9a-f-]{36}/);
    const rows = await service.client.call('listEnvironments', { query: { name: 'only once' } });
    assert.equal(rows.length, 1);
  });

  test('sensitive values are not kept over a reload', async () => {
    await page.goto(`${service.url}/environments/new?template=${templateId}`);
    await next('Settings');
    await page.getByRole('textbox', { name: 'Name' }).fill('secretive');
    await next('Variables');
    await value('token').fill('very secret');
    await value('region').fill('mars');
    const kept = await page.evaluate('JSON.stringify(sessionStorage)');
    assert.match(String(kept), /mars/);
    assert.doesNotMatch(String(kept), /very secret/);
    await page.reload();
    assert.equal(await value('region').inputValue(), 'mars');
    assert.equal(await value('token').inputValue(), '');
  });

  test('a project that is full says so in the first step, and what its policy allows in the second', async () => {
    const { client } = service;
    const { organizationId } = home;
    const { id } = await client.call('createProject', { body: { organizationId, name: 'Full' } });
    const policy = { projectId: id, numberOfEnvironmentsTotal: 0, maxTtl: '3-d' };
    await client.call('updatePolicy', { body: policy });
    await page.goto(`${service.url}/environments/new?project=${id}`);
    await page.getByText('The project has reached its limit of active environments').waitFor();
    await client.call('updatePolicy', { body: { ...policy, numberOfEnvironmentsTotal: 1 } });
    await page
      .getByText('The project has reached its limit of active environments')
      .waitFor({ state: 'detached' });
    await page.getByText('From a repository').click();
    await page.getByLabel(/^Repository/).fill(repository);
    await page.getByRole('button', { name: /^Next/ }).click();
    await page.getByText('It may last 3 days at most').waitFor();
  });
});
