/** People, teams, roles, permissions and keys in the browser. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createClient } from '#contract/client/client.ts';
import { type Home, until } from '../../runs.ts';
import { chooseOption, complaintsOf, holdRequest, openPage, signIn, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const viewer = {
  email: 'vera.member@example.com',
  name: '‫ורה‬ <b>Vera</b> 🌱',
  password: 'five other random words',
};

describe('people in the browser', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;

  const dialog = () => page.getByRole('dialog').last();
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).last().click();
  const go = (path: string) => page.goto(`${service.url}${path}`);
  const choose = async (label: string, option: string | RegExp) => {
    await chooseOption(page, label, option);
    // A list that still closes would take the next click.
    await page.getByRole('option').first().waitFor({ state: 'hidden' });
  };
  const membersByEmail = async () => {
    const members = await service.client.call('listMembers', { params: { id: home.organizationId } });
    return new Map(members.map((member) => [member.user.email, member]));
  };

  before(async () => {
    service = await joinWebService();
    home = service.home;
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await service.signedIn();
  });

  test('a person is invited with a role in a project; the link is shown once and lets them in', async () => {
    await go('/users');
    await press('Invite a person');
    await page.getByLabel(/^E-mail/).fill('nobody');
    await press('Create the invitation');
    await page.getByText('An e-mail address is required.').waitFor();
    await page.getByLabel(/^E-mail/).fill(viewer.email);
    await press('Add a role in a project');
    await choose('Project', 'Default');
    await choose('Role in it', 'Viewer');
    await press('Create the invitation');
    const link = (await dialog().getByLabel('Link', { exact: true }).textContent()) ?? '';
    await press('I have stored it');
    assert.ok(!(await page.content()).includes(link));
    await page.getByRole('tab', { name: 'Invitations' }).click();
    await page.getByRole('row').filter({ hasText: viewer.email }).getByText('Pending').waitFor();

    const other = await openPage(service.browser);
    const { pathname, hash } = new URL(link);
    await other.goto(`${service.url}${pathname}${hash}`);
    await other.getByLabel(/^Name/).fill(viewer.name);
    await other.getByLabel(/^Password/).fill(viewer.password);
    await other.getByRole('button', { name: 'Accept and sign in' }).click();
    await other.getByRole('navigation', { name: 'Main' }).waitFor();
    await other.context().close();
    await page.getByRole('row').filter({ hasText: viewer.email }).getByText('Accepted').waitFor();
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.getByRole('row').filter({ hasText: '<b>Vera</b> 🌱' }).waitFor();
    assert.equal(await page.locator('b', { hasText: 'Vera' }).count(), 0);
  });

  test('a user without the right sees why each button is disabled', async () => {
    const other = await openPage(service.browser);
    await signIn(other, service.url, viewer);
    await other.goto(`${service.url}/users`);
    const button = other.getByRole('button', { name: 'Invite a person' });
    await other.locator('[aria-disabled="true"]', { hasText: 'Invite a person' }).waitFor();
    await button.focus();
    await other.getByRole('tooltip', { name: /EDIT_ORGANIZATION_SETTINGS/ }).waitFor();
    await button.press('Enter');
    assert.equal(await other.getByRole('dialog').count(), 0);
    await other.goto(`${service.url}/api-keys`);
    await other.getByText('You cannot see the keys').waitFor();
    await other.goto(`${service.url}/audit`);
    await other.getByText('You cannot see the audit trail').waitFor();
    await other.context().close();
  });

  test('a button keeps the focus while the rights of the person are being read', async () => {
    const letGo = await holdRequest(page, 'GET', '/api/permissions/effective');
    await go('/users');
    const button = page.getByRole('button', { name: 'Invite a person' });
    await button.focus();
    await page.getByRole('tooltip', { name: 'Loading your rights.' }).waitFor();
    await letGo();
    await page.locator('button:not([aria-disabled])', { hasText: 'Invite a person' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel(/^E-mail/).waitFor();
  });

  test('the last admin can be neither demoted nor removed, and the page says why', async () => {
    await go('/users');
    await page.getByRole('row').getByRole('button', { name: 'Ada Lovelace' }).click();
    await choose('Role', 'User');
    await press('Change');
    await dialog().getByRole('alert').getByText(/last/i).waitFor();
    await press('Remove from the organization');
    await press('Remove');
    await dialog().getByRole('alert').getByText(/last/i).waitFor();
  });

  test('a team gets members, a role and the settings of two people without one losing theirs', async () => {
    await go('/teams');
    await page.getByRole('button', { name: 'New team' }).first().click();
    await page.getByLabel(/^Name/).fill('Platform');
    await press('Create team');
    await choose('Add a member', /Vera/);
    await press('Add');
    await dialog().getByRole('listitem').filter({ hasText: 'Vera' }).waitFor();
    const [team] = await service.client
      .call('listTeams', { params: { organizationId: home.organizationId } })
      .then((found) => (Array.isArray(found) ? found : found.teams));
    await page.getByLabel('What for').fill('mine');
    await service.client.call('updateTeam', {
      params: { id: team?.id ?? '' },
      body: { description: 'theirs' },
    });
    await press('Save');
    await page.getByText('Changed by someone else').waitFor();
    assert.equal(await page.getByLabel('What for').inputValue(), 'mine');
    await press('Show their version');
    await until('their version', async () => (await page.getByLabel('What for').inputValue()) === 'theirs');
    await page.getByText('Changed by someone else').waitFor({ state: 'detached' });
    await page.getByLabel('What for').fill('ours');
    await press('Save');
    await page.getByText('The team was changed').waitFor();
  });

  test('a custom role is made, assigned and explained, and not deleted while a user has it', async () => {
    await go('/roles');
    await page.getByRole('button', { name: 'New role' }).first().click();
    await page.getByLabel(/^Name/).fill('Releaser');
    await page.getByLabel('RUN_APPLY').check();
    await press('Create role');
    // The form, too, says how many rights are chosen: it must not be left before the role exists.
    await page.getByText('The role was created').waitFor();
    await dialog().getByText('4 chosen').waitFor();

    await go(`/permissions?tab=assignments&project=${home.projectId}`);
    await press('Assign a role');
    await page.getByText('A team', { exact: true }).click();
    await choose('Team', 'Platform');
    await choose('Role', 'Releaser');
    await dialog().getByRole('button', { name: 'Assign role' }).click();
    await page.getByRole('row').filter({ hasText: 'Platform' }).getByText('Releaser').waitFor();

    const vera = (await membersByEmail()).get(viewer.email)?.user.user_id ?? '';
    await page.getByRole('tab', { name: 'Everyone in a project' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: 'Vera' })
      .getByText(/by the team Platform/)
      .waitFor();
    await page.getByRole('row').filter({ hasText: 'Vera' }).getByRole('link', { name: 'Explain' }).click();
    await page.waitForURL((url) => url.searchParams.get('user') === vera);
    const apply = page.getByRole('row').filter({ hasText: 'RUN_APPLY' });
    await apply.getByText('Releaser in project Default, by the team Platform').waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: 'MANAGE_BILLING' })
      .getByText('No', { exact: true })
      .waitFor();

    await go('/roles');
    await page.getByRole('button', { name: 'Releaser' }).click();
    await press('Delete role');
    await press('Delete');
    await dialog()
      .getByRole('alert')
      .getByText(/Platform/)
      .waitFor();
  });

  test('a key shows its secret once, works, and is rotated and deleted', async () => {
    const complaints = complaintsOf(page);
    await go('/api-keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByLabel(/^Name/).fill('pipeline');
    await press('Create key');
    const key = (await dialog().getByLabel('Id', { exact: true }).textContent()) ?? '';
    const secret = (await dialog().getByLabel('Secret', { exact: true }).textContent()) ?? '';
    await page.keyboard.press('Escape');
    await press('I have stored it');
    assert.ok(!(await page.content()).includes(secret));
    const program = createClient({ url: service.url, key, secret });
    assert.equal((await program.call('getCurrentUser')).identifiedBy, 'key');

    await page.getByRole('button', { name: 'pipeline' }).click();
    await press('Add a secret');
    await press('I have stored it');
    await page.getByRole('button', { name: 'Delete secret' }).nth(1).waitFor();
    await page.locator('[aria-disabled="true"]', { hasText: 'Add a secret' }).waitFor();
    await press('Delete key');
    await press('Delete');
    await page.getByText('The key was deleted').waitFor();
    await assert.rejects(program.call('getCurrentUser'), { status: 401 });
    assert.deepEqual(complaints, []);
  });

  test('the settings of a key are edited, and are shown again after a reload', async () => {
    const { organizationId } = home;
    await service.client.call('createApiKey', { body: { organizationId, name: 'deployer' } });
    const text = (name: RegExp) => dialog().getByRole('textbox', { name });
    const owner = dialog().getByRole('combobox', { name: 'Owner' });
    await go('/api-keys');
    await page.getByRole('button', { name: 'deployer' }).click();
    await text(/^Name/).fill('releaser');
    await text(/^What for/).fill('releases of the shop');
    await choose('Owner', /Ada Lovelace/);
    await dialog().getByRole('combobox', { name: 'Networks' }).fill('192.0.2.0/24');
    await page.keyboard.press('Enter');
    await press('Save');
    await page.getByText('The key was changed').waitFor();
    await page.reload();
    await dialog().getByText('192.0.2.0/24').waitFor();
    assert.equal(await text(/^Name/).inputValue(), 'releaser');
    assert.equal(await text(/^What for/).inputValue(), 'releases of the shop');
    await until('the owner', async () => (await owner.inputValue()).startsWith('Ada Lovelace'));
  });

  test('the profile changes the name, makes an own key and ends another session', async () => {
    const other = await openPage(service.browser);
    await signIn(other, service.url, service.admin);
    await go('/profile');
    const name = page.getByRole('textbox', { name: /^Name/ });
    const letGo = await holdRequest(page, 'PUT', '/api/users/me');
    await name.fill('Ada King');
    await page.getByRole('button', { name: 'Save' }).click();
    await name.fill('Ada King-Noel');
    await letGo();
    await page.getByText('Your name was changed').waitFor();
    assert.equal(await name.inputValue(), 'Ada King-Noel');
    await page.getByRole('button', { name: 'Save' }).and(page.locator(':not([aria-disabled])')).click();
    await page.getByRole('button', { name: 'Account: Ada King-Noel' }).waitFor();
    await page.getByRole('tab', { name: 'Sessions' }).click();
    await page.getByText('(this one)').waitFor();
    await page
      .getByRole('button', { name: 'End', exact: true })
      .and(page.locator(':not([aria-disabled])'))
      .first()
      .click();
    await page.getByText('End this session?').waitFor();
    await press('End');
    await page.getByText('The session has ended').waitFor();
    await page.getByRole('tab', { name: 'Your keys' }).click();
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByLabel(/^Name/).fill('laptop');
    await press('Create key');
    await dialog().getByLabel('Secret', { exact: true }).waitFor();
    await press('I have stored it');
    await page.getByRole('row').filter({ hasText: 'laptop' }).waitFor();
    await other.context().close();
  });

  test('organizations are created by those who may', async () => {
    await go('/organization?tab=all');
    await page.getByRole('button', { name: 'New organization' }).waitFor();
    await page.route('**/api/users/me', async (route) => {
      const reply = await route.fetch();
      const me = (await reply.json()) as object;
      await route.fulfill({ json: { ...me, mayCreateOrganizations: false } });
    });
    await page.reload();
    await page.getByText('You work here').waitFor();
    assert.equal(await page.getByRole('button', { name: 'New organization' }).count(), 0);
  });
});
