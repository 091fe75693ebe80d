/** Projects in the browser: the tree, and what holds in each of them. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { createEnvironment, type Home } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { chooseOption, complaintsOf, signIn, withAnswers, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const slowMilliseconds = 1000;
const rightToLeft = 'مشروع 🚀';

describe('projects in the browser', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;
  let complaints: string[];

  const open = (path: string) => page.goto(`${service.url}${path}`);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const choose = (label: string, option: string | RegExp) => chooseOption(page, label, option);
  const createProject = (name: string, parentProjectId?: string) =>
    service.client.call('createProject', {
      body: { organizationId: home.organizationId, name, ...(parentProjectId ? { parentProjectId } : {}) },
    });
  const projectOf = (id: string) => service.client.call('getProject', { params: { id } });

  before(async () => {
    service = await joinWebService();
    home = service.home;
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('the tree opens, closes, counts and finds', async () => {
    const { path } = await makeRepository(service.folder, 'empty', { 'main.tf': '' });
    const top = await createProject('Platform');
    const inner = await createProject(rightToLeft, top.id);
    await createEnvironment(service.client, home, {
      ...{ name: 'one', repository: path, projectId: inner.id, preventAutoDeploy: true },
    });
    await open('/projects');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row(rightToLeft).getByRole('cell', { name: '1', exact: true }).waitFor();
    await button('Close Platform').click();
    await row(rightToLeft).waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Find a project' }).fill('🚀');
    await row(rightToLeft).waitFor();
    await row('Default').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: rightToLeft }).click();
    await page.getByRole('link', { name: 'one' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a project is created below another one, renamed, moved, archived and restored', async () => {
    const [from, to] = [await createProject('From'), await createProject('To')];
    await open(`/projects/${from.id}?tab=below`);
    await page.getByText('No projects below this one').waitFor();
    await button('New project below').click();
    await dialog().getByLabel(/^Name/).fill('Team');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Team' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await button('Edit').click();
    await dialog().getByLabel(/^Name/).fill('Team A');
    await dialog().getByLabel('Description').fill('builds things');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Team A' }).waitFor();
    await button('Move').click();
    await choose('Below', 'To');
    await dialog().getByRole('button', { name: 'Move' }).click();
    await page.getByRole('link', { name: 'To', exact: true }).waitFor();
    assert.equal((await projectOf(id)).parentProjectId, to.id);
    await button('Archive').click();
    await dialog().getByRole('button', { name: 'Archive' }).click();
    await button('Restore').click();
    await button('Restore').waitFor({ state: 'detached' });
    await button('Archive').waitFor();
    const project = await projectOf(id);
    assert.deepEqual(
      [project.name, project.description, project.isArchived],
      ['Team A', 'builds things', false],
    );
    assert.deepEqual(complaints, []);
  });

  test('a policy is changed as a whole, and two people do not overwrite each other', async () => {
    const { id } = await createProject('Strict');
    await open(`/projects/${id}?tab=policy`);
    await page.getByRole('switch', { name: 'Outputs may be used elsewhere' }).click();
    await page.getByLabel('Environments of the project').fill('many');
    await button('Save').click();
    await page.getByText(/A whole number up to/).waitFor();
    const leave = () => page.getByRole('tab', { name: 'Roles' }).click();
    assert.deepEqual(await withAnswers(page, [false], leave), ['Leave without saving the changed policy?']);
    await page.getByLabel('Environments of the project').fill('12');
    // On a slow connection, their version arrives long after the refusal.
    await page.route(/\/api\/policies\?/, async (route) => {
      await delay(slowMilliseconds);
      await route.continue();
    });
    await service.client.call('updatePolicy', { body: { projectId: id, maxTtl: '1-w' } });
    await button('Save').click();
    await page.getByText('Someone else has changed this policy in the meantime').waitFor();
    await button('Save').click();
    await page.getByText('The policy was saved').waitFor();
    assert.deepEqual(await withAnswers(page, [], leave), []);
    const policy = await service.client.call('getPolicy', { query: { projectId: id } });
    assert.deepEqual([policy.outputsAsInputsEnabled, policy.numberOfEnvironmentsTotal], [true, 12]);
  });

  test('a policy says what each setting is now and where it comes from, and where it is refused', async () => {
    const { id } = await createProject('Explained');
    const params = { id: home.organizationId };
    const lifetimes = (maxTtl: string | null, defaultTtl: string | null) =>
      service.client.call('updateOrganizationPolicies', { params, body: { maxTtl, defaultTtl } });
    await lifetimes('3-d', '12-h');
    await open(`/projects/${id}?tab=policy`);
    await page.getByText('Now: 3 days, from the organization').waitFor();
    await page.getByText('Now: 12 hours, from the organization').waitFor();
    await page.getByText('Now: on, the default').waitFor();
    await page.getByText(/Now: 0, of them yours: 0/).waitFor();
    await choose('Longest lifetime', '1 day');
    assert.equal(
      await page.getByRole('combobox', { name: 'Lifetime without another one' }).inputValue(),
      'No end',
    );
    await choose('Lifetime without another one', '1 week');
    await button('Save').click();
    await page.getByText('1-w is longer than maxTtl 1-d').waitFor();
    await choose('Lifetime without another one', '6 hours');
    await page.getByRole('switch', { name: 'Check for drift' }).click();
    await page.getByRole('textbox', { name: 'When it is checked' }).fill('0 0 31 2 *');
    await button('Save').click();
    await page.getByText(/names a time that never comes/).waitFor();
    await page.getByRole('textbox', { name: 'When it is checked' }).fill('5 4 * * *');
    await choose("Approving one's own plan", 'Forbidden');
    await button('Save').click();
    await page.getByText('Now: 1 day, set for this project').waitFor();
    await page.getByText('Now: 5 4 * * *, set for this project').waitFor();
    await page.getByText('Now: forbidden, set for this project').waitFor();
    await lifetimes(null, null);
  });

  test('roles of teams and users are assigned and removed, and say where they are from', async () => {
    const { organizationId } = home;
    const parent = await createProject('Above');
    const { id } = await createProject('Below', parent.id);
    await service.client.call('createTeam', { body: { organizationId, name: 'Builders' } });
    await open(`/projects/${parent.id}?tab=roles`);
    await page.getByText('No roles are assigned in this project itself').waitFor();
    await choose('User or team', 'Builders');
    await choose('Role', 'Deployer');
    await button('Assign').click();
    await page.getByRole('row', { name: /Builders.*Deployer.*this project/ }).waitFor();
    await choose('User or team', /Ada Lovelace/);
    await choose('Role', 'Planner');
    await button('Assign').click();
    await page.getByRole('row', { name: /Ada Lovelace.*Planner.*this project/ }).waitFor();
    await open(`/projects/${id}?tab=roles`);
    await page.getByRole('row', { name: /Ada Lovelace.*Planner.*Above/ }).waitFor();
    await open(`/projects/${parent.id}?tab=roles`);
    await button('Remove the role of Builders').click();
    await page.getByRole('row', { name: /Builders/ }).waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  test('credentials of a project are assigned and removed, and are inherited below', async () => {
    const { organizationId } = home;
    const parent = await createProject('Cloud');
    const { id } = await createProject('Inside', parent.id);
    await service.client.call('createCredential', {
      body: {
        ...{ organizationId, name: 'our account', type: 'AWS_ACCESS_KEYS_FOR_DEPLOYMENT' },
        value: { accessKeyId: 'AKIAXXXXXXXXXXXXXXXX', secretAccessKey: 'x'.repeat(40) },
      },
    });
    await open(`/projects/${parent.id}?tab=credentials`);
    await choose('Assign a credential', /our account/);
    await button('Assign').click();
    await page.getByRole('row', { name: /our account.*this project/ }).waitFor();
    await open(`/projects/${id}?tab=credentials`);
    await page.getByRole('row', { name: /our account.*Cloud/ }).waitFor();
    await open(`/projects/${parent.id}?tab=credentials`);
    await button('Remove our account').click();
    await page.getByText('Runs of this project get no cloud credentials').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a person without the rights reads why, and a project that is not there says so', async () => {
    const { organizationId } = home;
    const { id } = await createProject('Read only');
    const viewer = { email: 'vi@example.com', name: 'Vi', password: 'four random words together' };
    const { userId } = await service.operator.call('createAdmin', { body: { ...viewer, organizationId } });
    await service.client.call('setMemberRole', { params: { id: organizationId, userId }, body: 'User' });
    await service.client.call('assignUserRole', { body: { userId, role: 'Viewer', projectId: id } });
    await page.context().clearCookies();
    await signIn(page, service.url, viewer);
    await open(`/projects/${id}`);
    await page.getByRole('heading', { name: 'Read only' }).waitFor();
    await button('Archive').hover();
    await page.getByText(/You need the right EDIT_PROJECT_SETTINGS/).waitFor();
    await open(`/projects/${home.projectId}`);
    await page
      .getByRole('alert')
      .getByText(/You may not do this|This does not exist/)
      .waitFor();
  });
});
