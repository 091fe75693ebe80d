/** Browsers of the benchmark: signed in by the form, as people do. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { signIn } from '../../acceptance/web/browser.ts';
import type { BenchService } from '../measure/service.ts';

/** State of a browser in which a person has signed in. */
export type BrowserState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Signs in once. */
export async function signInOnce(browser: Browser, { url }: BenchService): Promise<BrowserState> {
  const context = await browser.newContext();
  try {
    await signIn(await context.newPage(), url);
    return await context.storageState();
  } finally {
    await context.close();
  }
}

/** Tabs of the same person in several profiles, which share neither cache nor connections. */
export async function pagesSignedIn(
  browser: Browser,
  signedIn: BrowserState,
  { tabs, tabsPerProfile = 1 }: { readonly tabs: number; readonly tabsPerProfile?: number },
): Promise<AsyncDisposable & { readonly pages: readonly Page[] }> {
  const pages: Page[] = [];
  const contexts: BrowserContext[] = [];
  while (pages.length < tabs) {
    const context = await browser.newContext({
      storageState: signedIn,
      viewport: { width: 1440, height: 900 },
    });
    contexts.push(context);
    for (let tab = 0; tab < tabsPerProfile && pages.length < tabs; tab++) pages.push(await context.newPage());
  }
  return {
    pages,
    async [Symbol.asyncDispose]() {
      for (const context of contexts) await context.close();
    },
  };
}
