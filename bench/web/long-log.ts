/** A very long log in one tab: scrolling, memory and search. */
import type { Browser, Page } from 'playwright-core';
import type { BenchService } from '../measure/service.ts';
import { type BrowserState, pagesSignedIn } from './browser.ts';
import { heapMegabytesOf } from './heap.ts';
import { tasksOf, watchTasks } from './long-tasks.ts';

export interface LongLog {
  readonly loadedAfter: number;
  /** Of each task that took 50 ms or more while it was scrolled; browsers do not report shorter ones. */
  readonly tasks: readonly number[];
  /** In use after each part, by the page and its workers, with buffers. */
  readonly heapMegabytes: readonly number[];
  readonly searches: readonly number[];
}

const scrollSteps = 60;
const scrollPauseMilliseconds = 30;
/** A count that has not changed for so long is that of the whole log. */
const quietMilliseconds = 1_500;

/** Runs a task that prints lines, and waits for its end. @returns the id of the deployment */
export async function printLines(
  { client }: BenchService,
  environmentId: string,
  lines: number,
): Promise<string> {
  const { id } = await client.call('deployEnvironment', {
    params: { id: environmentId },
    body: {
      deploymentType: 'task',
      taskPayload: `seq -f 'request %.0f of the storefront was answered' 1 ${lines}`,
    },
  });
  for await (const event of client.stream('streamDeployment', { params: { id } }))
    if (event.event === 'end' && event.data.status !== 'SUCCESS')
      throw new Error(`the task that prints ended with ${event.data.status}`);
  return id;
}

/** Waits until the log grows no longer. @returns milliseconds since the navigation began */
function untilLoaded(page: Page, lines: number): Promise<number> {
  return page.evaluate(
    (lines) =>
      new Promise<number>((resolve) => {
        let [height, since] = [0, performance.now()];
        setInterval(() => {
          const rows = document.querySelector('[aria-label="Log of all steps"]');
          const now = rows?.scrollHeight ?? 0;
          if (now !== height) [height, since] = [now, performance.now()];
          // No line is less than ten pixels high.
          else if (height > lines * 10 && performance.now() - since > 2_000) resolve(since);
        }, 50);
      }),
    lines,
  );
}

/** With the wheel through some screens at several places, and by dragging the bar from end to end. */
async function scrollThrough(page: Page): Promise<void> {
  const rows = page.getByLabel('Log of all steps');
  await rows.hover();
  const jump = (part: number) =>
    rows.evaluate((element, part) => (element.scrollTop = element.scrollHeight * part), part);
  for (const part of [0, 0.5, 0.9]) {
    await jump(part);
    for (let step = 0; step < scrollSteps; step++) {
      await page.mouse.wheel(0, 600);
      await page.waitForTimeout(scrollPauseMilliseconds);
    }
  }
  for (let step = 0; step <= scrollSteps; step++) {
    await jump(step / scrollSteps);
    await page.waitForTimeout(scrollPauseMilliseconds);
  }
}

/** Types a search. @returns milliseconds until the count of all lines is shown, and changes no longer */
async function search(page: Page, text: string): Promise<number> {
  const counted = page.evaluate(
    (quiet) =>
      new Promise<number>((resolve) => {
        let [start, last, shown] = [0, 0, ''];
        const input = document.querySelector<HTMLInputElement>('[aria-label="Search the log"]');
        input?.addEventListener('input', () => (start = performance.now()), { once: true, capture: true });
        const observer = new MutationObserver(() => {
          const count = document.querySelector('search output')?.textContent ?? '';
          if (count !== shown) [shown, last] = [count, performance.now()];
        });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        const timer = setInterval(() => {
          const isOver = /\d lines?/.test(shown) && !shown.includes('…');
          if (start === 0 || !isOver || performance.now() - last < quiet) return;
          clearInterval(timer);
          observer.disconnect();
          resolve(last - start);
        }, 50);
      }),
    quietMilliseconds,
  );
  const field = page.getByLabel('Search the log');
  await field.fill(text);
  const milliseconds = await counted;
  await field.fill('');
  await page.waitForFunction(() => document.querySelector('search output')?.textContent === '');
  return milliseconds;
}

/** Opens the log of a deployment and does what people do with it. @param port of the browser for debugging */
export async function measureLongLog(
  browser: Browser,
  signedIn: BrowserState,
  { url, lines, port }: { readonly url: string; readonly lines: number; readonly port: number },
): Promise<LongLog> {
  await using opened = await pagesSignedIn(browser, signedIn, { tabs: 1 });
  const [page] = opened.pages as [Page];
  await page.goto(url);
  const loadedAfter = await untilLoaded(page, lines);
  const heapMegabytes = [await heapMegabytesOf(page, port)];
  await watchTasks(page);
  await scrollThrough(page);
  const tasks = await tasksOf(page);
  heapMegabytes.push(await heapMegabytesOf(page, port));
  const searches: number[] = [];
  for (const text of [`request ${lines} of`, 'storefront', '777', 'answered'])
    searches.push(await search(page, text));
  heapMegabytes.push(await heapMegabytesOf(page, port));
  return { loadedAfter, tasks, heapMegabytes, searches };
}
