/** Cloud credentials, git tokens, ssh keys, forges and agents in the browser. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Home } from '../../runs.ts';
import { chooseOption, openPage, signIn, withoutBrowser } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

describe('credentials in the browser', { skip: withoutBrowser, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let home: Home;
  let answers: string[];

  const dialog = () => page.getByRole('dialog').last();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).last().click();
  const go = (path: string) => page.goto(`${service.url}${path}`);
  const begin = (name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const text = (label: RegExp) => dialog().getByRole('textbox', { name: label });
  const choose = (label: string, option: string) => chooseOption(page, label, option, { exact: true });

  before(async () => {
    service = await joinWebService();
    home = service.home;
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await openPage(service.browser);
    answers = [];
    page.on('response', (response) => {
      if (response.url().includes('/api/'))
        void response.text().then(
          (body) => answers.push(body),
          () => undefined,
        );
    });
    await signIn(page, service.url, service.admin);
  });

  test('each kind of credential has its own fields, and missing ones are named at the field', async () => {
    await go('/credentials');
    await begin('New credential');
    await choose('Kind', 'Azure: service principal');
    await text(/^Client secret/).waitFor();
    await choose('Kind', 'AWS: role to assume');
    await text(/^Seconds of a session/).fill('60');
    await press('Store credential');
    await page.getByText('Role ARN is required.').waitFor();
    await page.getByText('A whole number from 900 to 43200.').waitFor();
    await page.getByText('A name is required.').waitFor();
    assert.equal(await text(/^Client secret/).count(), 0);
  });

  test('a credential is write-only, assigned to a project, and not deleted while it is', async () => {
    await go('/credentials');
    await begin('New credential');
    await text(/^Name/).fill('deployer');
    await choose('Kind', 'AWS: access keys');
    await text(/^Access key id/).fill('AKIAEXAMPLE');
    await dialog()
      .getByLabel(/^Secret access key/)
      .fill('a-secret-that-nobody-sees-again');
    await press('Store credential');
    await page.getByText('Stored encrypted, and never shown again.').waitFor();
    await choose('Assign to', 'Default');
    await press('Assign');
    await dialog().getByRole('listitem').filter({ hasText: 'Default' }).waitFor();
    await press('Delete credential');
    await press('Delete');
    await dialog()
      .getByRole('alert')
      .getByText(/Default/)
      .waitFor();
    await press('Keep it');
    await dialog().getByRole('listitem').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Remove it from Default?').waitFor();
    await press('Remove');
    await page.getByText('It is not assigned to a project, so no run gets it.').waitFor();
    await press('Replace the value');
    await text(/^Access key id/).fill('AKIAOTHER');
    await dialog()
      .getByLabel(/^Secret access key/)
      .fill('another-secret-of-the-cloud');
    await press('Replace value');
    await page.getByText('The value was replaced').waitFor();
    await press('Delete credential');
    await press('Delete');
    await page.getByText('The credential was deleted').waitFor();
    assert.ok(!answers.join().includes('a-secret-that-nobody'));
    assert.ok(!answers.join().includes('another-secret'));
  });

  test('a git token that a template names says so, and cannot be deleted', async () => {
    await go('/git-tokens');
    await begin('New token');
    await text(/^Name/).fill('forge');
    await dialog().getByText('Registries', { exact: true }).click();
    await dialog()
      .getByLabel(/^Token/)
      .fill('user:token-of-the-forge');
    await press('Store token');
    await page.getByText('A token for registries requires their hosts.').waitFor();
    await dialog().getByText('Repositories', { exact: true }).click();
    await press('Store token');
    await page.getByText('Nothing that you can see uses it.').waitFor();
    const { organizationId } = home;
    const [token] = await service.client.call('listGitTokens', { query: { organizationId } });
    await service.client.call('createTemplate', {
      body: {
        organizationId,
        name: 'Private network',
        type: 'terraform',
        repository: 'https://git.example.com/network.git',
        tokenId: token?.id ?? '',
      },
    });
    await page.reload();
    await dialog().getByRole('link', { name: 'Private network' }).waitFor();
    await press('Delete token');
    await press('Delete');
    await dialog()
      .getByRole('alert')
      .getByText(/Private network/)
      .waitFor();
    assert.ok(!answers.join().includes('token-of-the-forge'));
  });

  test('an ssh key and a forge are stored, changed and deleted', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    await go('/ssh-keys');
    await begin('New key');
    await text(/^Name/).fill('deploy key');
    await text(/^Private key/).fill('ssh-ed25519 AAAA');
    await press('Store key');
    await page.getByText('The whole private key file is required.').waitFor();
    await text(/^Private key/).fill(pem);
    await press('Store key');
    await page.getByText('The key was stored').waitFor();
    await press('Delete key');
    await press('Delete');
    await page.getByText('The key was deleted').waitFor();

    await go('/vcs-connections');
    await begin('New connection');
    await text(/^Name/).fill('our forge');
    await text(/^Address/).fill('git.example.com');
    await press('Store connection');
    await page.getByText('A complete address is required, such as https://git.example.com.').waitFor();
    await text(/^Address/).fill('https://git.example.com');
    await choose('Git token', 'forge');
    await press('Store connection');
    await page.getByText('The connection was stored').waitFor();
    await text(/^Name/).fill('the forge');
    await press('Save');
    await page.getByText('The connection was changed').waitFor();
  });

  test('an agent is created with a secret that is shown once; it says that it was never started', async () => {
    await go('/agents');
    await page.getByRole('row').filter({ hasText: 'Default' }).getByText('Online').waitFor();
    await begin('New agent');
    await text(/^Name/).fill('cloud-a');
    await press('Create agent');
    await dialog().getByText('Never started', { exact: true }).waitFor();
    await text(/^Name/).fill('cloud-b');
    await text(/^What for/).fill('close to the second cloud');
    await press('Save');
    await page.getByText('The agent was changed').waitFor();
    await dialog().getByRole('heading', { name: 'cloud-b' }).waitFor();
    await press('New secret');
    await text(/^Where it is used/).fill('next to the cloud');
    await press('Create secret');
    const secret = (await dialog().getByLabel('Secret', { exact: true }).first().textContent()) ?? '';
    assert.notEqual(secret, '');
    await press('I have stored it');
    await dialog().getByRole('listitem').filter({ hasText: 'next to the cloud' }).waitFor();
    assert.ok(!(await page.content()).includes(secret));
    await chooseOption(page, 'Assign a project', /./);
    await press('Assign');
    await page.getByText('The next jobs of the project go to its agent').waitFor();
    await press('Take back');
    await dialog().getByText('No project is assigned to it.').waitFor();
    await press('Make it the default');
    await press('No longer default');
    await dialog().getByText('No default agent was chosen').waitFor();
    await press('Delete agent');
    await press('Delete');
    await page.getByText('The agent was deleted').waitFor();
  });
});
