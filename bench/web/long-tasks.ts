/** Long tasks of a page: so long it answered no one. */
import type { Page } from 'playwright-core';

/** Notes the long tasks of the page from now on. */
export function watchTasks(page: Page): Promise<void> {
  return page.evaluate(() => {
    const tasks: number[] = [];
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({
      type: 'longtask',
    });
    Object.assign(globalThis, { tasks });
  });
}

/** The tasks noted so far, in milliseconds. */
export function tasksOf(page: Page): Promise<number[]> {
  return page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks);
}
