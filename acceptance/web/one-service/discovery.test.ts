/** Environment discovery in the browser: previewed, saved, and explained folder by folder. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Home, until } from '../../runs.ts';
import { makeRepository, type Repository } from '../../service.ts';
import { complaintsOf, signIn, withAnswers, withoutRuns } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const codeOf = (name: string) => `resource "terraform_data" "x" {\n  input = "${name}"\n}\n`;
const files = (...folders: string[]) =>
  Object.fromEntries(folders.map((folder) => [`${folder}/main.tf`, codeOf(folder)]));

describe('environment discovery in the browser', { skip: withoutRuns, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;
  let complaints: string[];

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  /** The row of a folder in the tree. */
  const row = (...texts: (string | RegExp)[]) =>
    texts.reduce((found, hasText) => found.filter({ hasText }), page.getByRole('listitem'));
  const open = (projectId: string) => page.goto(`${service.url}/projects/${projectId}?tab=discovery`);
  const environmentsOf = (projectId: string) =>
    service.client.call('listEnvironments', { query: { organizationId: home.organizationId, projectId } });

  /** A project of its own, whose environments are deployed without a person. */
  async function newProject(name: string): Promise<string> {
    const { id } = await service.client.call('createProject', {
      body: { organizationId: home.organizationId, name },
    });
    await service.client.call('updatePolicy', { body: { projectId: id, requiresApprovalDefault: false } });
    return id;
  }

  /** The same with environments for the folders of a repository. */
  async function discovering(name: string, repository: Repository, more: object = {}): Promise<string> {
    const projectId = await newProject(name);
    const params = { projectId };
    const body = {
      repository: repository.path,
      globPattern: '*/main.tf',
      type: 'terraform',
      ...more,
    } as const;
    await service.client.call('setDiscovery', { params, body });
    await until('the environments are deployed', async () => {
      const { folders } = await service.client.call('getDiscoveryState', { params });
      const all = await environmentsOf(projectId);
      const isDeployed = all.every(({ status }) => status === 'ACTIVE');
      return isDeployed && folders.length > 0 && folders.every(({ status }) => status === 'MANAGED');
    });
    return projectId;
  }

  const scan = (projectId: string) => service.client.call('startDiscoveryScan', { params: { projectId } });

  before(async () => {
    service = await joinWebService();
    home = service.home;
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });
  /** The browser reports refusals, which these pages show: a project without discovery, and settings that are wrong. */
  const assertNoOthers = (...statuses: number[]) =>
    assert.deepEqual(
      complaints.filter((text) => !statuses.some((status) => text.includes(`status of ${status}`))),
      [],
    );

  test('it is set up with a preview, and the folders become environments while the page is open', async () => {
    const repository = await makeRepository(
      service.folder,
      'live',
      files('prod/app', 'prod/db', 'modules/vpc'),
    );
    const projectId = await newProject('Live');
    await open(projectId);
    await page.getByText('No environment discovery here yet').waitFor();
    await button('Set up discovery').click();
    await button('Preview').click();
    await page.getByText('The address of the repository is required.').waitFor();
    await page.getByRole('textbox', { name: 'Repository' }).fill(repository.path);
    await page.getByRole('textbox', { name: 'Glob' }).fill('prod/*/main.tf b');
    await button('Preview').click();
    await page.getByText(/Must not contain blanks/).waitFor();
    await page.getByRole('textbox', { name: 'Glob' }).fill('prod/*/main.tf');
    await page.getByRole('textbox', { name: 'Root path' }).fill('prod');
    await button('Preview').click();
    await row('app', 'Create').waitFor();
    await row(
      'modules/vpc',
      'Pass over',
      'no alternative of globPattern matches modules/vpc/main.tf',
    ).waitFor();
    assert.deepEqual(await environmentsOf(projectId), []);
    await page.getByRole('textbox', { name: 'Root path' }).scrollIntoViewIfNeeded();
    await page.getByRole('textbox', { name: 'Root path' }).fill('');
    await page.getByText('The settings have changed since this preview').waitFor();
    const typedIn = await page.getByRole('textbox', { name: 'Root path' }).boundingBox();
    assert.ok(typedIn && typedIn.y >= 0, 'the page stays at the field that is typed in');
    const leave = () => page.getByRole('tab', { name: 'Roles' }).click();
    assert.deepEqual(await withAnswers(page, [false], leave), [
      'Leave without saving the discovery settings?',
    ]);
    await page.getByRole('textbox', { name: 'Root path' }).fill('prod');
    await button('Save and scan').click();
    await row('app', 'Managed').getByRole('link', { name: 'app' }).waitFor();
    await row('db', 'Managed').waitFor();
    await page
      .getByText(/2 matches in 3 files, 2 environments created/)
      .first()
      .waitFor();
    assert.equal((await environmentsOf(projectId)).length, 2);
    await button('Close prod').click();
    await row('app', 'Managed').waitFor({ state: 'detached' });
    await button(/Passed over/).click();
    await row('modules/vpc').waitFor();
    assert.equal(await page.getByRole('list', { name: 'Folders' }).getByRole('listitem').count(), 1);
    assertNoOthers(404, 400);
  });

  test('a person decides that a renamed folder keeps its environment', async () => {
    const repository = await makeRepository(service.folder, 'renamed', files('old', 'other'));
    const projectId = await discovering('Renamed', repository);
    await open(projectId);
    await row('old', 'Managed').waitFor();
    await repository.git('mv', 'old', 'new');
    await repository.commit({});
    await scan(projectId);
    await page.getByText('A folder was renamed').waitFor();
    await button('Show only these').click();
    await row('new', 'Renamed?').waitFor();
    await button('The same environment: keep its state').click();
    await page.getByText('The environment follows to new').waitFor();
    await button(/All/).click();
    await row('new', 'Managed').waitFor();
    await row('old').waitFor({ state: 'detached' });
    const names = (await environmentsOf(projectId)).map(({ name }) => name).toSorted();
    assert.deepEqual(names, ['new', 'other']);
    assert.deepEqual(complaints, []);
  });

  test('more removals than the limit wait until a person confirms them', async () => {
    const repository = await makeRepository(service.folder, 'removed', files('a', 'b', 'c'));
    const projectId = await discovering('Removed', repository, { onRemoval: 'archive' });
    await open(projectId);
    await row('b', 'Managed').waitFor();
    await repository.git('rm', '-rq', '--', 'b');
    await repository.commit({});
    await button('Scan now').click();
    await page.getByText('The folder of 1 environment is gone').first().waitFor();
    await row('b', 'To be removed').waitFor();
    await button('Archive 1 environment …').click();
    await dialog().getByRole('listitem').filter({ hasText: 'b' }).waitFor();
    await dialog().getByRole('button', { name: 'Archive', exact: true }).click();
    await row('b', /Removed/).waitFor();
    await page.getByText('The folder of 1 environment is gone').waitFor({ state: 'detached' });
    const { folders } = await service.client.call('getDiscoveryState', { params: { projectId } });
    const id = folders.find(({ folder }) => folder === 'b')?.environmentId ?? '';
    assert.equal((await service.client.call('getEnvironment', { params: { id } })).isArchived, true);
    assert.deepEqual(complaints, []);
  });

  test('two people do not overwrite each other, and deleting keeps the environments', async () => {
    const repository = await makeRepository(service.folder, 'edited', files('a'));
    const projectId = await discovering('Edited', repository);
    await open(projectId);
    await button('Edit discovery').click();
    await page.getByRole('radio', { name: 'Archive the environment' }).check();
    await page.getByRole('textbox', { name: 'Ask first above' }).fill('50');
    const theirs = { repository: repository.path, globPattern: 'a/main.tf', type: 'terraform' } as const;
    await service.client.call('setDiscovery', { params: { projectId }, body: theirs });
    await button('Save and scan').click();
    await page.getByText('Someone else has changed this configuration in the meantime').waitFor();
    await button('Save and scan').click();
    await page.getByText('Above 50 % of the environments').waitFor();
    await button('Delete discovery').click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No environment discovery here yet').waitFor();
    assert.equal((await environmentsOf(projectId)).length, 1);
  });

  test('a failed scan says why, and a person without the right reads which one is missing', async () => {
    const repository = await makeRepository(service.folder, 'failing', files('a'));
    const projectId = await discovering('Failing', repository);
    const viewer = { email: 'fay@example.com', name: 'Fay', password: 'four random words together' };
    const { organizationId } = home;
    const { userId } = await service.operator.call('createAdmin', { body: { ...viewer, organizationId } });
    await service.client.call('setMemberRole', { params: { id: organizationId, userId }, body: 'User' });
    await service.client.call('assignUserRole', { body: { userId, role: 'Viewer', projectId } });
    await page.context().clearCookies();
    await signIn(page, service.url, viewer);
    await open(projectId);
    await row('a', 'Managed').waitFor();
    const body = {
      repository: repository.path,
      revision: 'gone',
      globPattern: '*/main.tf',
      type: 'terraform',
    } as const;
    await service.client.call('setDiscovery', { params: { projectId }, body });
    await page.getByText('The last scan failed').waitFor();
    await page.getByText(/gone.*Environments are unchanged/).waitFor();
    await button('Scan now').hover();
    await page.getByText(/You need the right EDIT_PROJECT_SETTINGS/).waitFor();
  });

  test('a preview of 5,000 folders has only the rows in sight in the page', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `f${index}`);
    const repository = await makeRepository(service.folder, 'large', files(...names));
    for (let index = 0; index < 49; index++) await repository.git('read-tree', `--prefix=e${index}/`, 'HEAD');
    await repository.git('commit', '--quiet', '--message', 'Add folders');
    await open(await newProject('Large'));
    await button('Set up discovery').click();
    await page.getByRole('textbox', { name: 'Repository' }).fill(repository.path);
    await page.getByRole('textbox', { name: 'Glob' }).fill('**/main.tf');
    await button('Preview').click();
    const list = page.getByRole('list', { name: 'Preview of folders' });
    await list.getByRole('listitem').first().waitFor();
    assert.equal(await list.getByRole('listitem').first().getAttribute('aria-setsize'), '5049');
    assert.ok((await list.getByRole('listitem').count()) < 60);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await row('f99', 'Create').waitFor();
    assert.ok((await list.getByRole('listitem').count()) < 60);
    await page.getByRole('searchbox', { name: 'Find a folder' }).fill('e43/f21');
    await row('e43/f21').waitFor();
    assert.equal(await list.getByRole('listitem').count(), 1);
    assertNoOthers(404);
  });
});
