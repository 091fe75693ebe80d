/** Time until people can use pages, measured in the page itself. */
import type { Browser, Locator, Page } from 'playwright-core';
import { type BrowserState, pagesSignedIn } from './browser.ts';

/** Changes after the page could be used for so long are something new, and not part of its opening. */
const quietMilliseconds = 1_500;

interface Noted {
  /** Since the navigation began; null while something is still being loaded. */
  usableAt: number | null;
}

/** Notes when the page has its title, and no placeholder is left in it. */
function noteUsable(): void {
  const noted: Noted = { usableAt: null };
  const note = () => {
    const isUsable =
      document.querySelector('#page-title') !== null &&
      document.querySelector('main [role="status"][aria-label="Loading"]') === null;
    if (!isUsable) noted.usableAt = null;
    else noted.usableAt ??= performance.now();
  };
  const watch = () =>
    new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true });
  watch();
  Object.assign(globalThis, { noted });
}

async function usableAfter(page: Page): Promise<number> {
  for (;;) {
    const found = await page.waitForFunction(
      (quiet) => {
        const { usableAt } = (globalThis as unknown as { noted: Noted }).noted;
        return usableAt !== null && performance.now() - usableAt > quiet ? usableAt : null;
      },
      quietMilliseconds,
      { polling: 100 },
    );
    const value = await found.jsonValue();
    if (value !== null) return value;
  }
}

/** Opens an address in new profiles, one after the other: nothing of it is in a cache. */
export async function measureFirstVisits(
  browser: Browser,
  signedIn: BrowserState,
  { url, count }: { readonly url: string; readonly count: number },
): Promise<number[]> {
  const times: number[] = [];
  for (let visit = 0; visit < count; visit++) {
    await using opened = await pagesSignedIn(browser, signedIn, { tabs: 1 });
    const [page] = opened.pages as [Page];
    await page.addInitScript(noteUsable);
    await page.goto(url);
    times.push(await usableAfter(page));
  }
  return times;
}

/**
 * Clicks, and waits until the first row of the page's table is another one and has been painted.
 * @returns milliseconds from the click
 */
export function measureRows(element: Locator): Promise<number> {
  return element.evaluate(
    (clicked: HTMLElement) =>
      new Promise<number>((resolve) => {
        const firstRow = () => document.querySelector('main tbody tr')?.textContent ?? '';
        const before = firstRow();
        const observer = new MutationObserver(() => {
          const isLoading = document.querySelector('main [role="status"][aria-label="Loading"]') !== null;
          if (isLoading || firstRow() === '' || firstRow() === before) return;
          observer.disconnect();
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
        });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        const start = performance.now();
        clicked.click();
      }),
  );
}
