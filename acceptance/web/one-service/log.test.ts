/** The log of a deployment in the browser: long, live, hostile, and after the network was cut. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { createEnvironment, openGate, stepLines, streamedLogs, until, untilEnd } from '../../runs.ts';
import { makeRepository } from '../../service.ts';
import { complaintsOf, openPage, signIn, withoutRuns } from '../browser.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

const configuration = `resource "terraform_data" "it" {
  provisioner "local-exec" { command = "sh \${path.module}/run.sh" }
}
`;

const long = 'seq 100000';
/** Markup, colours, links and bytes of all kinds, then a failure. */
const hostile = `
printf '%s\\n' '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>'
printf '\\033[31mred text\\033[0m\\n'
printf '\\033]8;;javascript:window.hacked=3\\033\\\\bad link\\033]8;;\\033\\\\\n'
printf '\\033]8;;https://example.com/page\\033\\\\good link\\033]8;;\\033\\\\\n'
printf 'bytes \\377\\376 end\\n'
exit 3
`;
const live = `
seq 50
until [ -e gate ]; do sleep 0.05; done
seq 51 250
until [ -e second ]; do sleep 0.05; done
seq 251 450
`;
/** Of laptops, and one in which the log does not fit below the head of a deployment. */
const windowSizes = [
  { width: 1440, height: 900 },
  { width: 1280, height: 720 },
  { width: 1280, height: 480 },
];
const longWait = { timeout: 30_000 };
const cutMilliseconds = 20_000;
const slowAnswerMilliseconds = 500;

describe('the log in the browser', { skip: withoutRuns }, () => {
  let service: SharedWebService;
  let page: Page;
  let complaints: string[];
  /** Ids of the deployments. */
  let many: string;
  let failed: string;
  /** The log of the first. */
  let stored: Buffer;

  const start = async (name: string, script: string) => {
    const { path } = await makeRepository(service.folder, name, {
      'main.tf': configuration,
      'run.sh': script,
    });
    return createEnvironment(service.client, service.home, { name, repository: path });
  };
  /** Waits until a line is stored. */
  const untilLine = (deploymentId: string, text: string) =>
    until(text, async () => {
      const steps = await service.client.call('listSteps', { params: { deploymentLogId: deploymentId } });
      if (!steps.some(({ name, startedAt }) => name === 'tf:apply' && startedAt)) return false;
      const lines = await stepLines(service.client, deploymentId, 'tf:apply');
      return lines.some(({ message }) => message.includes(text));
    });
  const open = (deploymentId: string, parameters = '') =>
    page.goto(`${service.url}/deployments/${deploymentId}?tab=log${parameters}`);
  const log = () => page.getByRole('log');
  const line = (text: string): Locator => log().locator('[data-line]', { hasText: text }).first();
  const inView = async (locator: Locator) => {
    await locator.waitFor(longWait);
    const [outer, inner] = await Promise.all([log().boundingBox(), locator.boundingBox()]);
    assert.ok(outer && inner && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height + 1);
  };
  /** Waits until all of it is in the window: not below it, and not behind the head of the page. */
  const inWindow = async (locator: Locator) => {
    await locator.waitFor(longWait);
    const head = (await page.getByRole('banner').boundingBox())!;
    await until('it is in the window', async () => {
      const box = await locator.boundingBox();
      return box !== null && box.y >= head.height && box.y + box.height <= page.viewportSize()!.height;
    });
  };
  const download = async (button: Locator): Promise<Buffer> => {
    const saved = page.waitForEvent('download');
    await button.click();
    return readFile(await (await saved).path());
  };

  before(async () => {
    service = await joinWebService();
    const runs = [start('long', long), start('hostile', hostile)] as const;
    [many, failed] = [(await runs[0]).deploymentId, (await runs[1]).deploymentId];
    await Promise.all([untilEnd(service.client, many), untilEnd(service.client, failed, 'FAILURE')]);
    stored = (await streamedLogs(service.client, many)).get('tf:apply')!;
    page = await service.signedIn();
    complaints = complaintsOf(page);
  });

  test('all of 100,000 lines are there, and a search counts them across steps', async () => {
    await open(many);
    await page.getByLabel('Search the log').fill('(local-exec): 9999');
    const count = page.locator('search output');
    await count.filter({ hasText: '1 of 11 lines' }).waitFor(longWait);
    await inView(line('(local-exec): 9999'));
    await page.keyboard.press('Enter');
    await count.filter({ hasText: '2 of 11 lines' }).waitFor();
    await inView(line('(local-exec): 99990'));
    await page.getByRole('button', { name: 'Previous hit' }).click();
    await count.filter({ hasText: '1 of 11 lines' }).waitFor();
    await page.getByRole('button', { name: 'Regular expression' }).click();
    await page.getByLabel('Search the log').fill('exec\\): 9+$');
    await count.filter({ hasText: / of 5 lines/ }).waitFor();
    await page.getByLabel('Search the log').fill('(');
    await page.getByText('Invalid regular expression').waitFor();
    await page.getByLabel('Search the log').fill('terraform|[Cc]lon');
    await count.filter({ hasText: /of \d{3},\d{3} lines/ }).waitFor();
  });

  test('a link leads to its line, and lines are selected and copied', async () => {
    const lines = stored.toString().split('\n');
    const number = lines.findIndex((each) => each.endsWith('m54321')) + 1;
    await open(many, `&step=tf:apply&line=${number}`);
    const target = log().locator(`[data-line="${number}"][data-selected]`);
    await inView(target);
    assert.match((await target.textContent()) ?? '', /54321$/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await log()
      .locator(`[data-number="${number + 3}"]`)
      .click({ modifiers: ['Shift'] });
    await page.waitForURL(new RegExp(`line=${number}-${number + 3}`));
    await page.getByRole('button', { name: 'Copy lines' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(
      copied.trimEnd().split('\n'),
      [54321, 54322, 54323, 54324].map((each) => `terraform_data.it (local-exec): ${each}`),
    );
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Link copied' }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await page.goto(link);
    await inView(log().locator(`[data-line="${number}"][data-selected]`));
  });

  test('the keys wrap, show times, go to the ends and search', async () => {
    await open(many);
    await line('Cloning').waitFor(longWait);
    await page.keyboard.press('Shift+G');
    await inView(
      log().locator(`[data-step="tf:apply"] [data-line="${stored.toString().split('\n').length - 1}"]`),
    );
    await page.keyboard.press('w');
    await page.locator('[role=log][data-wrapped]').waitFor();
    await page.keyboard.press('t');
    await log()
      .getByText(/^\d\d:\d\d:\d\d[.,]\d{3}$/)
      .first()
      .waitFor();
    await page.keyboard.press('w');
    await page.keyboard.press('t');
    await page.keyboard.press('g');
    await log().locator('[data-line="1"]').first().waitFor();
    await page.keyboard.press('/');
    assert.equal(
      await page.getByLabel('Search the log').evaluate((field) => field === document.activeElement),
      true,
    );
  });

  test('the error is one click away', async () => {
    await open(failed);
    await page.getByRole('button', { name: 'Go to the error' }).click();
    await inView(line('Error: local-exec provisioner error'));
    assert.match(page.url(), /step=tf%3Aapply&line=\d+/);
    await page.goto(`${service.url}/deployments/${failed}?tab=plan`);
    await page.getByRole('link', { name: 'Log of tf:apply' }).click();
    await inView(line('Error: local-exec provisioner error'));
  });

  test('markup, colours, links and unusual bytes are shown and never executed', async () => {
    await open(failed, '&step=tf:apply&line=3');
    await line('<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>').waitFor(longWait);
    assert.equal(await log().locator('img, script, iframe').count(), 0);
    await log().locator('[data-color="red"]', { hasText: 'red text' }).first().waitFor();
    assert.equal(await log().getByRole('link', { name: 'bad link' }).count(), 0);
    assert.equal(
      await log().getByRole('link', { name: 'good link' }).first().getAttribute('href'),
      'https://example.com/page',
    );
    await line('bytes \ufffd\ufffd end').waitFor();
    assert.equal(await page.evaluate('window.hacked'), undefined);
  });

  test('what is downloaded equals the stored bytes', async () => {
    await open(many, '&step=tf:apply&line=90000');
    await inView(log().locator('[data-line="90000"]'));
    assert.ok((await download(page.getByRole('button', { name: 'Download tf:apply' }))).equals(stored));
    await page.getByRole('button', { name: 'More' }).click();
    const all = await download(page.getByRole('menuitem', { name: 'Download all' }));
    const steps = [...(await streamedLogs(service.client, many)).values()];
    assert.ok(all.equals(Buffer.concat(steps)));
  });

  test('the end is followed until the person scrolls up, and again on demand', async () => {
    const { id, deploymentId } = await start('live', live);
    await open(deploymentId);
    const follow = page.getByRole('button', { name: 'Follow' });
    await inView(line('(local-exec): 50'));
    const before = page.viewportSize()!;
    for (const size of windowSizes) {
      await page.setViewportSize(size);
      await page.reload();
      await inWindow(line('(local-exec): 50'));
      assert.equal(await follow.getAttribute('aria-pressed'), 'true');
    }
    await page.setViewportSize(before);
    await inWindow(line('(local-exec): 50'));
    await log().hover();
    await page.mouse.wheel(0, -400);
    await page.locator('button[aria-pressed="false"]', { hasText: 'Follow' }).waitFor();
    await openGate(service, id);
    await log()
      .getByText('250 lines')
      .or(log().getByText(/25\d lines/))
      .waitFor(longWait);
    assert.equal(await line('(local-exec): 250').count(), 0);
    await follow.click();
    await inView(line('(local-exec): 250'));
    await inWindow(line('(local-exec): 250'));
    await openGate(service, id, 'second');
    await line('(local-exec): 450').waitFor(longWait);
    await untilEnd(service.client, deploymentId);
  });

  test('after a cut of 20 s the log continues without a lost or doubled line, and says so while it is cut', async () => {
    const { id, deploymentId } = await start('cut', live);
    await open(deploymentId);
    await inView(line('(local-exec): 50'));
    await page.context().setOffline(true);
    await page.getByText(/Connection lost, showing up to line \d+ of tf:apply/).waitFor();
    await openGate(service, id);
    await openGate(service, id, 'second');
    await untilEnd(service.client, deploymentId);
    await page.waitForTimeout(cutMilliseconds);
    assert.equal(await line('(local-exec): 51').count(), 0);
    await page.context().setOffline(false);
    await line('(local-exec): 450').waitFor(longWait);
    await page.getByText(/showing up to line/).waitFor({ state: 'detached' });
    const expected = (await streamedLogs(service.client, deploymentId)).get('tf:apply')!;
    assert.ok((await download(page.getByRole('button', { name: 'Download tf:apply' }))).equals(expected));
    await log()
      .getByText(`${expected.toString().trimEnd().split('\n').length} lines`)
      .waitFor();
  });

  test('a browser without event streams shows the stored log, and says that it is not live', async () => {
    const { id, deploymentId } = await start('stored', live);
    const old = await openPage(service.browser);
    await old.addInitScript('delete globalThis.TextDecoderStream');
    await signIn(old, service.url, service.admin);
    await untilLine(deploymentId, 'm50');
    // The page has the code of the log before it knows the steps.
    await old.route('**/steps', async (route) => {
      await setTimeout(slowAnswerMilliseconds);
      await route.continue();
    });
    await old.goto(`${service.url}/deployments/${deploymentId}?tab=log`);
    await old.getByText('This log is not live').waitFor();
    await old.getByRole('log').getByText('(local-exec):').first().waitFor();
    await openGate(service, id);
    await openGate(service, id, 'second');
    await untilEnd(service.client, deploymentId);
    await old.getByRole('button', { name: 'Load newer lines' }).click();
    await old.getByLabel('Search the log').fill('(local-exec): 450');
    await old.locator('search output').filter({ hasText: '1 of 1 line' }).waitFor();
    await old.context().close();
  });

  test('the browser has nothing to complain about', () => {
    assert.deepEqual(
      complaints.filter((complaint) => !/ERR_INTERNET_DISCONNECTED/.test(complaint)),
      [],
    );
  });
});
