/** Plans in a real browser: thousands of resources, hostile and huge values, links, filters, narrow screens. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Plan } from '#contract/deployments/plan.ts';
import type { DeploymentLevel } from '#contract/deployments/shapes.ts';
import { createEnvironment, untilEnd } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, openPage, signIn, withoutRuns } from '../browser.ts';
import { answerPlan, change, largePlan, scrollPlan } from '../large-plan.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

const code = `variable "password" {
  type      = string
  default   = "correct horse"
  sensitive = true
}

resource "terraform_data" "hostile" {
  input = ${JSON.stringify(markup)}
}

resource "terraform_data" "sealed" {
  input = var.password
}

resource "terraform_data" "policy" {
  input = jsonencode({ Version = "2012", Statement = [{ Effect = "Allow" }] })
}
`;

describe('plans', { skip: withoutRuns, concurrency: false }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  let address: string;
  let environmentId: string;
  before(async () => {
    service = await joinWebService();
    const repository = await makeRepository(service.folder, 'code', { 'main.tf': code });
    const name = `مرحبا 🚀 ${'very long '.repeat(20)}${markup}`.slice(0, 250);
    const home = service.home;
    const { deploymentId, ...made } = await createEnvironment(service.client, home, {
      name,
      repository: repository.path,
    });
    await untilEnd(service.client, deploymentId);
    environmentId = made.id;
    address = `${service.url}/deployments/${deploymentId}?tab=plan`;
    page = await openPage(service.browser);
    complaints = complaintsOf(page);
    await signIn(page, service.url, service.admin);
  });

  const rows = () => page.getByRole('list', { name: 'Resources' }).locator(':scope > div');
  const row = (path: string) => page.locator(`button[data-row="${path}"]`);
  const expanded = (path: string) => row(path).and(page.locator('[aria-expanded="true"]'));

  /** Shows another plan in the place of that of the deployment, as the service would answer it. */
  async function showing(plan: Plan, at = address): Promise<void> {
    await page.unrouteAll();
    await answerPlan(page, plan);
    await page.goto('about:blank');
    await page.goto(at);
    await rows().first().waitFor();
  }

  /** The most rows that were in the document while the page scrolled down and up again. */
  async function rowsWhileScrolling(): Promise<number> {
    let most = 0;
    await scrollPlan(page, async () => {
      most = Math.max(most, await rows().count());
    });
    return most;
  }

  test('names and values from other people are text, secrets are sealed, and documents are laid out', async () => {
    await page.goto(address);
    await page.getByRole('button', { name: /terraform_data\.hostile/ }).click();
    await page.getByText(markup).first().waitFor();
    assert.notEqual(await page.title(), '1');
    await page.getByRole('button', { name: /terraform_data\.sealed/ }).click();
    const sealed = rows().filter({ hasText: 'terraform_data.sealed' });
    await sealed.getByText('sealed', { exact: true }).waitFor();
    assert.doesNotMatch(await page.content(), /correct horse/);
    await page.getByRole('button', { name: /terraform_data\.policy/ }).click();
    const policy = rows().filter({ hasText: 'terraform_data.policy' });
    assert.match(await policy.innerText(), /^ {2}"Version": "2012"/m);
  });

  test('of a plan of 5,000 resources the one that is destroyed comes first, and only what is seen is in the document', async () => {
    await showing(largePlan(5000));
    await page.getByText('5000 resources', { exact: true }).waitFor();
    assert.match(await rows().first().innerText(), /Destroy[^]*server_3777/);
    const most = await rowsWhileScrolling();
    assert.ok(most > 0 && most < 100, `${most} rows were in the document`);
  });

  test('search, kinds and modules are in the address, which shows the same again', async () => {
    await showing(largePlan(5000));
    await page.getByRole('button', { name: '1 to destroy' }).click();
    await page.getByText('1 of 5000 resources').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.keyboard.press('/');
    await page.keyboard.type('server_42');
    await page.getByText('111 of 5000 resources').waitFor();
    await page.getByLabel('Only this module').selectOption('module.region_2');
    await page.getByText('7 of 5000 resources').waitFor();
    assert.match(page.url(), /q=server_42/);
    await page.reload();
    await page.getByText('7 of 5000 resources').waitFor();
  });

  test('a link to one resource opens it, wherever it is', async () => {
    const path = 'module.region_17.aws_instance.server_4217';
    await showing(largePlan(5000), `${address}#${encodeURIComponent(path)}`);
    await row(path).waitFor();
    await expanded(path).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await expanded('module.region_18.aws_instance.server_4218').waitFor();
  });

  test('a value of a megabyte is compared on request', async () => {
    const lines = (word: string) =>
      Array.from(
        { length: 25_000 },
        (_, at) => `line ${at} ${at === 20_000 ? word : 'is as it was before this'}`,
      );
    const content = { name: 'content', before: lines('old').join('\n'), after: lines('new').join('\n') };
    await showing({
      resourceChanges: [change('aws_s3_object.huge', 'update', [content])],
      outputChanges: [],
    });
    await page.getByRole('button', { name: /^Compare / }).click();
    await page.getByText('line 20000 new').waitFor();
    await page
      .getByText(/^19997 unchanged lines$|19997 unchanged lines/)
      .first()
      .waitFor();
    assert.ok((await page.locator('.cm-line').count()) < 400);
  });

  test('reasons, imports, moves and drift are shown; the smallest screen shows all of them', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const long = `module.${'x'.repeat(300)}.thing`;
    await showing({
      resourceChanges: [
        { ...change(long, 'delete'), actionReason: 'delete_because_no_resource_config' },
        { ...change('a.imported', 'metadata'), importing: { id: 'i-123' } },
        { ...change('a.moved', 'metadata'), previousAddress: 'b.before' },
        { ...change('a.drifted', 'update', [{ name: 'size', before: 1, after: 2 }]), driftByCloud: true },
      ],
      settled: [change('a.settled', 'update', [{ name: 'etag', before: 'x', after: 'y' }])],
      outputChanges: [
        { name: 'where', action: 'update', attributes: [{ name: 'value', before: 1, after: 2 }] },
      ],
    });
    for (const text of ['the code does not contain it any more', 'i-123', 'b.before', 'changed outside'])
      await page.getByText(text).first().waitFor();
    await page.getByRole('heading', { name: 'Read differently, not changed' }).waitFor();
    await page.getByRole('list', { name: 'Outputs that change' }).getByText('where').waitFor();
    const wider = await page.evaluate(`[...document.querySelectorAll('main *')]
      .filter((each) => each.getBoundingClientRect().right > 320 && each.closest('[role=region]') === null)
      .map(({ outerHTML }) => outerHTML.slice(0, 200))`);
    assert.deepEqual(wider, []);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('a plan changes nothing only where the service says so; a deployment that does not exist has a page', async () => {
    await page.unrouteAll();
    await page.route(/deployments\/[^/?]+\?fields=plan/, (route) =>
      route.fulfill({ json: { plan: { resourceChanges: [], outputChanges: [] } } }),
    );
    await page.goto(address);
    await page.getByText('The apply still has something to do').waitFor();
    await page.unrouteAll();
    const { id: again } = await service.client.call('deployEnvironment', {
      params: { id: environmentId },
      body: {},
    });
    await untilEnd(service.client, again);
    await page.goto(`${service.url}/deployments/${again}?tab=plan`);
    await page.getByText('Nothing changes.').waitFor();
    await page.getByText('there was nothing to change').waitFor();
    await page.goto(`${service.url}/deployments/00000000-0000-7000-8000-000000000000`);
    await page.getByRole('heading', { name: 'This does not exist' }).waitFor();
  });

  test('a deployment in levels says which one this is, what the earlier ones did, and what follows', async () => {
    await page.unrouteAll();
    const waits = { reason: 'it needs outputs', follows: true } as const;
    const rows = [change('vpc/terraform_data.it', 'create'), change('vpc/terraform_data.old', 'recreate')];
    const first: DeploymentLevel = {
      level: 1,
      appliedAt: new Date(Date.now() - 600_000).toISOString(),
      plan: { resourceChanges: rows, outputChanges: [] },
      planSummary: { added: 2, changed: 0, destroyed: 1, replaced: 1 },
      units: [{ unit: 'vpc' }, { unit: 'app', ...waits }, { unit: 'web', ...waits }],
    };
    const second = { level: 2, status: 'IN_PROGRESS', units: [{ unit: 'app' }, { unit: 'web', ...waits }] };
    await page.route(/deployments\/[^/?]+\?exclude_fields=/, async (route) => {
      const reply = await route.fetch();
      await route.fulfill({ json: { ...((await reply.json()) as object), ...second } });
    });
    await page.route(/deployments\/[^/?]+\?fields=earlierLevels/, (route) =>
      route.fulfill({ json: { earlierLevels: [first] } }),
    );
    await page.goto(address);
    const levels = page.getByRole('region', { name: 'Level 2' });
    await levels.getByText('1 replaced, 1 added').waitFor();
    const [applied, current] = await levels.getByRole('listitem').allInnerTexts();
    assert.match(applied ?? '', /Level 1\s+vpc applied 10 min ago: 1 replaced, 1 added/);
    assert.match(current ?? '', /Level 2\s+app is being applied/);
    await levels.getByText('web has no plan yet and waits for another approval.').waitFor();
    await levels.getByText('2 resources').click();
    await levels.getByText('vpc/terraform_data.old').waitFor();
    await page.unrouteAll();
  });

  test('nothing of this breaks a rule of the browser', () => {
    const others = complaints.filter((text) => !/status of 404/.test(text));
    assert.deepEqual(others, []);
  });
});
