/** The state of an environment in the browser: compared, rolled back, locked by a tool, downloaded. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { deployNew, untilEnd } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, withoutRuns } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const configuration = `variable "region" {
  type    = string
  default = "eu"
}

resource "terraform_data" "server" {
  input = var.region
}

output "token" {
  value     = "token of \${var.region}"
  sensitive = true
}
`;

describe('the state in the browser', { skip: withoutRuns }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let id: string;

  const open = (parameters = 'tab=state') => page.goto(`${service.url}/environments/${id}?${parameters}`);
  const versions = () => service.client.call('listStateVersions', { params: { id } });
  const rows = (): Locator => page.getByRole('region', { name: 'State versions' }).locator('tbody tr');
  const act = async (at: number, name: string) => {
    await rows()
      .nth(at)
      .getByRole('button', { name: /^Actions of/ })
      .click();
    await page.getByRole('menuitem', { name }).click();
  };

  before(async () => {
    service = await joinWebService();
    const { client } = service;
    const { path: repository } = await makeRepository(service.folder, 'code', { 'main.tf': configuration });
    ({ id } = await deployNew(client, service.home, { name: 'web', repository }));
    const again = await client.call('deployEnvironment', {
      params: { id },
      body: { configurationChanges: [{ name: 'region', value: 'us', type: 1 }] },
    });
    await untilEnd(client, again.id);
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('two versions are compared, and sensitive values stay sealed', async () => {
    await open();
    await rows().nth(1).waitFor();
    await rows().nth(0).getByRole('checkbox').check();
    await rows().nth(1).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Compare two selected' }).click();
    const comparison = page.getByRole('region', { name: 'Comparison' });
    await comparison.getByText('terraform_data.server').first().waitFor();
    const text = await comparison.innerText();
    assert.match(text, /changed/);
    assert.match(text, /eu[\s\S]*us/);
    assert.doesNotMatch(text, /token of/);
    await page.reload();
    await comparison.getByText('terraform_data.server').first().waitFor();
  });

  test('a rollback makes the old content current, with its reason', async () => {
    const before = await versions();
    await open();
    await act(1, 'Roll back to it …');
    await page.getByLabel('Reason').fill('a mistake');
    await page.getByRole('button', { name: 'Roll back' }).click();
    await rows().nth(0).getByText('a mistake').waitFor();
    await rows().nth(0).getByText('a rollback').waitFor();
    const [current] = await versions();
    assert.deepEqual([current?.standing, current?.madeFrom], ['current', before[1]?.id]);
  });

  test('a version is downloaded as the tool wrote it', async () => {
    await open();
    const saved = page.waitForEvent('download');
    await act(0, 'Download, with its secrets');
    const file = await saved;
    const [current] = await versions();
    assert.equal(file.suggestedFilename(), `web-${current?.serial}.tfstate`);
    const state = JSON.parse(await readFile(await file.path(), 'utf8')) as { serial: number };
    assert.equal(state.serial, current?.serial);
  });

  test('a sensitive output is sealed until a user with the right requests it', async () => {
    await open('tab=outputs');
    await page.getByText('sealed', { exact: true }).waitFor();
    assert.doesNotMatch(await page.locator('body').innerText(), /token of/);
    await page.getByRole('button', { name: 'Reveal' }).click();
    await page.getByText('token of us').waitFor();
  });

  test('a tool that holds the state is named, and its lock can be released', async () => {
    await open();
    await page.getByText('The state is not locked.').waitFor();
    const authorization = `Basic ${btoa(`${service.key}:${service.secret}`)}`;
    const lock = {
      ID: 'a-lock',
      Operation: 'OperationTypeApply',
      Who: 'ada@laptop',
      Info: '',
      Version: '1.9.0',
    };
    const answer = await fetch(`${service.url}/state/v1/environments/${id}`, {
      method: 'LOCK',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(lock),
    });
    assert.equal(answer.status, 200);
    await page.getByText(/holds the state: ada@laptop/).waitFor();
    await page.getByRole('button', { name: 'Release …' }).click();
    await page.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByText('The state is not locked.').waitFor();
    assert.equal(await service.client.call('getStateLock', { params: { id } }), null);
  });

  test('nothing of it troubles the browser', () => assert.deepEqual(complaints, []));
});
