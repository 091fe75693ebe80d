/** Every page: what a browser, a screen reader, a small screen and a strict content policy say about it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import type { RunningService } from '../service.ts';
import {
  openPage,
  settle,
  signIn,
  startBrowser,
  startWebService,
  type Viewport,
  withoutBrowser,
} from './browser.ts';
import { pagesOf } from './page-list.ts';
import { fillShowcase, type Showcase } from './showcase.ts';

interface Finding {
  readonly id: string;
  readonly impact?: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe holds to be serious or worse, as text. */
async function seriousFindings(page: Page): Promise<string[]> {
  // The content policy of the page refuses a script element: the debugging protocol is above it.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: readonly Finding[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`,
      ),
    );
}

/** What a page complains about while it is open. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()} ${message.location().url}`);
  });
  return complaints;
}

describe('every page', { skip: withoutBrowser, concurrency: false }, () => {
  let service: RunningService;
  let browser: Browser;
  let shown: Showcase;
  before(async () => {
    service = await startWebService({ settings: { ENVARIUM_RATE_LIMIT: '0' } });
    [browser, shown] = await Promise.all([startBrowser(), fillShowcase(service.client, service.folder)]);
  });
  after(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  async function visit(viewport: Viewport, look: (page: Page, name: string) => Promise<readonly string[]>) {
    const page = await openPage(browser, viewport);
    await signIn(page, service.url);
    const complaints = complaintsOf(page);
    const found: string[] = [];
    for (const [name, path] of Object.entries(pagesOf(shown))) {
      await page.goto(service.url + path);
      await settle(page);
      for (const each of await look(page, name)) found.push(`${name}: ${each}`);
      for (const each of complaints.splice(0)) found.push(`${name}: ${each}`);
    }
    await page.context().close();
    return found;
  }

  test('has nothing that axe finds serious, in light colours, and breaks no rule of its content policy', async () => {
    assert.deepEqual(await visit({}, seriousFindings), []);
  });

  test('has nothing that axe finds serious, in dark colours', async () => {
    assert.deepEqual(await visit({ colorScheme: 'dark' }, seriousFindings), []);
  });

  const widerThanScreen = async (page: Page): Promise<string[]> => {
    const width = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    return width > 0 ? [`is ${width} px wider than the screen`] : [];
  };

  test('fits a screen of 320 px', async () => {
    assert.deepEqual(await visit({ width: 320, height: 640 }, widerThanScreen), []);
  });

  test('fits at a zoom of 200 %', async () => {
    // To a page, zoom is a screen with half as many pixels that are twice as large.
    assert.deepEqual(await visit({ width: 640, height: 400, deviceScaleFactor: 2 }, widerThanScreen), []);
  });

  test('offers what it shows for a terminal', async () => {
    const without = await visit({}, async (page) => {
      const count = await page.getByRole('button', { name: 'Copy as …' }).count();
      return count === 1 ? [] : ['has no "Copy as …"'];
    });
    assert.deepEqual(without, []);
  });
});
