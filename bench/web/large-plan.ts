/** A plan of thousands of resources in one tab: scrolling. */
import type { Browser, Page } from 'playwright-core';
import { answerPlan, largePlan, scrollPlan } from '../../acceptance/web/large-plan.ts';
import { type BrowserState, pagesSignedIn } from './browser.ts';
import { tasksOf, watchTasks } from './long-tasks.ts';

/**
 * Opens the plan of a deployment with other content, scrolls down and up again.
 * @returns milliseconds of each task that took 50 ms or more in that time
 */
export async function measureLargePlan(
  browser: Browser,
  signedIn: BrowserState,
  { url, resources }: { readonly url: string; readonly resources: number },
): Promise<readonly number[]> {
  await using opened = await pagesSignedIn(browser, signedIn, { tabs: 1 });
  const [page] = opened.pages as [Page];
  await answerPlan(page, largePlan(resources));
  await page.goto(url);
  const rows = page.getByRole('list', { name: 'Resources' });
  await rows.locator(':scope > div').first().waitFor();
  await watchTasks(page);
  await scrollPlan(page);
  return tasksOf(page);
}
