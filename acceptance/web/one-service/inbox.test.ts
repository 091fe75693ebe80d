/** Home: what needs a decision or a look. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { untilEnd } from '../../runs.ts';
import { complaintsOf, openPage, signIn, withoutRuns } from '../browser.ts';
import { fillShowcase, type Person, type Showcase } from '../showcase.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const viewer: Person = { email: 'vera@example.com', name: 'Vera Viewer', password: 'she looks and looks on' };

describe('the inbox', { skip: withoutRuns, concurrency: false }, () => {
  let service: SharedWebService;
  let shown: Showcase;
  let page: Page;
  let complaints: readonly string[];
  before(async () => {
    service = await joinWebService();
    page = await openPage(service.browser);
    complaints = complaintsOf(page);
    await signIn(page, service.url, service.admin);
  });

  const section = (name: string) => page.getByRole('region', { name });

  test('is empty in a new organization, says so, and shows what would fill it', async () => {
    await page.getByRole('heading', { name: 'Nothing needs your attention' }).waitFor();
    const { projectId } = service.home;
    await page.getByText(`envarium environment create web --project ${projectId}`).waitFor();
  });

  test('fills while it is open: what waits, failed and drifted, each with its action', async () => {
    shown = await fillShowcase(service.client, service.folder);
    const waiting = section('Waiting for you');
    const production = waiting.getByRole('listitem').filter({ hasText: 'production' });
    await production.getByText('2 to replace').waitFor();
    await waiting.getByRole('link', { name: 'Review' }).nth(1).waitFor();
    assert.equal(await waiting.getByRole('link', { name: 'Review' }).count(), 2);
    await section('Failed since your last visit').getByText('orders database').waitFor();
    await section('Drifted').getByRole('link', { name: 'See drift' }).waitFor();
  });

  test('a row leads to where it is decided, and leaves once it is', async () => {
    const row = section('Waiting for you').getByRole('listitem').filter({ hasText: 'production' });
    await row.getByRole('link', { name: 'Review' }).click();
    await page.waitForURL(new RegExp(`/deployments/${shown.waitingDeployment}`));
    await page.goBack();
    await row.waitFor();
    await service.client.call('approveDeployment', { params: { id: shown.waitingDeployment } });
    await row.waitFor({ state: 'detached' });
    await untilEnd(service.client, shown.waitingDeployment);
  });

  test('a failure is marked as seen by a user, and a later failure is new', async () => {
    await page.getByRole('button', { name: 'Mark all as seen' }).click();
    await section('Failed since your last visit').waitFor({ state: 'detached' });
    await page.reload();
    await section('Drifted').waitFor();
    assert.equal(await section('Failed since your last visit').count(), 0);
    const { id } = await service.client.call('deployEnvironment', {
      params: { id: shown.environments.failed },
    });
    await untilEnd(service.client, id, 'FAILURE');
    await section('Failed since your last visit').getByText('orders database').waitFor();
  });

  test('what is destroyed within three days is about to expire', async () => {
    await service.client.call('updateEnvironmentTtl', {
      params: { id: shown.environments.active },
      body: { type: 'HOURS', value: '20' },
    });
    await section('About to expire').getByText('destroyed in 19 h').waitFor();
  });

  test('a user who may not approve sees that others are waited for', async () => {
    const { organizationId } = shown;
    const { link = '' } = await service.client.call('createInvitation', {
      body: {
        email: viewer.email,
        organizationId,
        permissions: {
          organizationRole: 'User',
          projectsPermissions: [{ projectId: shown.projectId, projectRole: 'Viewer' }],
        },
      },
    } as never);
    const token = /[^/=#]+$/.exec(link)?.[0] ?? '';
    await service.client.call('acceptInvitation', {
      body: { token, name: viewer.name, password: viewer.password },
    });
    const theirs = await openPage(service.browser);
    await signIn(theirs, service.url, viewer);
    const others = theirs.getByRole('region', { name: 'Waiting for someone else' });
    await others.getByRole('link', { name: 'Look at it' }).waitFor();
    assert.equal(await theirs.getByRole('link', { name: 'Review' }).count(), 0);
    await theirs.context().close();
  });

  test('the page had nothing to complain about', () => {
    assert.deepEqual(complaints, []);
  });
});
