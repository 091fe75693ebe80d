/** Every page: what a browser, a screen reader, a small screen and a strict content policy say about it. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { untilStill, withoutRuns } from '../browser.ts';
import { pagesOf } from '../page-list.ts';
import { fillShowcase } from '../showcase.ts';
import { joinWebService, type SharedWebService } from './web-service.ts';

interface Finding {
  readonly id: string;
  readonly impact?: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Serious or worse findings of axe, as text. @param rules default: all that are on by default */
async function seriousFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
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

/** Errors of a page while it is open. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()} ${message.location().url}`);
  });
  return complaints;
}

const checks = {
  light: 'has nothing that axe finds serious, in light colours',
  dark: 'has nothing that axe finds serious, in dark colours',
  small: 'fits a screen of 320 px',
  // To a page, zoom is a screen with half as many pixels that are twice as large.
  zoom: 'fits at a zoom of 200 %',
  terminal: 'offers what it shows for a terminal',
  complaints: 'breaks no rule of its content policy, and fails nowhere',
} as const;
type Findings = Record<keyof typeof checks, string[]>;

/** Waits until nothing moves or fades: a transition starts up to two frames after its cause. */
async function stillness(page: Page): Promise<void> {
  const frames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';
  const moving =
    'document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity)';
  await page.evaluate(frames);
  for (let isMoving = true; isMoving; ) {
    await page.evaluate(
      `Promise.allSettled(${moving}.map(({ finished }) => finished)).then(() => ${frames})`,
    );
    isMoving = (await page.evaluate(`${moving}.length`)) !== 0;
  }
}

async function widerThan(page: Page, width: number, height: number): Promise<string[]> {
  await page.setViewportSize({ width, height });
  await stillness(page);
  const surplus = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  if (surplus <= 0) return [];
  const widest = await page.evaluate(`[...document.querySelectorAll('body *')]
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5)
    .slice(-5).map(({ outerHTML }) => outerHTML.slice(0, 150)).join(' | ')`);
  return [`${surplus} px wider than the screen: ${String(widest)}`];
}

/** Everything about one page, which is opened once. */
async function look(page: Page): Promise<Omit<Findings, 'complaints'>> {
  // The content policy of the page refuses a script element: the debugging protocol is above it.
  await page.evaluate(axe.source);
  // The result of the read enables controls, whose colours fade in.
  await stillness(page);
  const light = await seriousFindings(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor({ state: 'attached' });
  await stillness(page);
  // The page is the same in all but its colours.
  const dark = await seriousFindings(page, ['color-contrast', 'link-in-text-block']);
  await page.emulateMedia({ colorScheme: 'light' });
  const zoom = await widerThan(page, 720, 450);
  const small = await widerThan(page, 320, 640);
  await page.setViewportSize({ width: 1440, height: 900 });
  const copies = await page.getByRole('button', { name: 'Copy as …' }).count();
  return { light, dark, zoom, small, terminal: copies === 1 ? [] : ['no "Copy as …"'] };
}

describe('every page', { skip: withoutRuns, concurrency: false }, () => {
  let service: SharedWebService;
  const found: Findings = { light: [], dark: [], small: [], zoom: [], terminal: [], complaints: [] };
  before(async () => {
    service = await joinWebService();
    const shown = await fillShowcase(service.client, service.folder);
    const page = await service.signedIn();
    const complaints = complaintsOf(page);
    const listed: Record<string, string> = pagesOf(shown);
    const places = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    const links = await places.all();
    assert.ok(links.length > 15, 'the navigation leads to all pages');
    for (const place of links) {
      const path = new URL((await place.getAttribute('href')) ?? '', service.url).pathname;
      if (!Object.values(listed).includes(path)) listed[path] = path;
    }
    for (const [name, path] of Object.entries(listed)) {
      await page.goto(service.url + path);
      await untilStill(page);
      const all = { ...(await look(page)), complaints: complaints.splice(0) };
      for (const check of Object.keys(checks) as (keyof typeof checks)[])
        found[check].push(...all[check].map((each) => `${name}: ${each}`));
    }
  });
  for (const [check, name] of Object.entries(checks))
    test(name, () => assert.deepEqual(found[check as keyof typeof checks], []));
});
