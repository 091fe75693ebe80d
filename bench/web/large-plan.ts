/** A plan of thousands of resources in one tab: scrolling. */
import type { Browser, Page } from 'playwright-core';
import { largePlan } from '../../acceptance/web/large-plan.ts';
import { pagesSignedIn, type SignedIn } from './browser.ts';
import { tasksOf, watchTasks } from './long-tasks.ts';

const scrollSteps = 60;

/**
 * Opens the plan of a deployment with other content, scrolls down and up again.
 * @returns milliseconds of each task that took 50 ms or more meanwhile
 */
export async function measureLargePlan(
  browser: Browser,
  signedIn: SignedIn,
  { url, resources }: { readonly url: string; readonly resources: number },
): Promise<readonly number[]> {
  await using opened = await pagesSignedIn(browser, signedIn, { tabs: 1 });
  const [page] = opened.pages as [Page];
  const plan = largePlan(resources);
  await page.route(/deployments\/[^/?]+\?fields=plan/, (route) => route.fulfill({ json: { plan } }));
  await page.goto(url);
  const rows = page.getByRole('list', { name: 'Resources' });
  await rows.locator(':scope > div').first().waitFor();
  await page.mouse.move(700, 600);
  await watchTasks(page);
  for (let step = 0; step < scrollSteps; step++) {
    await page.mouse.wheel(0, step < scrollSteps / 2 ? 1500 : -1500);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
  return tasksOf(page);
}
