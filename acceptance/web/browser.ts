/** A real browser in front of a real service. */
import { type Browser, chromium, type Dialog, type Page } from 'playwright-core';
import { findProgram, withoutTerraform } from '../programs.ts';
import { until } from '../runs.ts';
import { type RunningService, type ServiceOptions, startService } from '../service.ts';
import { admin, createAdmin, type Person } from './showcase.ts';

/** Absolute path of the browser that people use, or null where the machine has none. */
export const chromiumPath = (await findProgram('chromium')) ?? (await findProgram('chromium-browser'));
/** The same browser without what only windows need, which takes a quarter less time; where there is none, the whole one. */
const testBrowserPath = (await findProgram('chromium-headless-shell')) ?? chromiumPath;

/** Why tests of the web interface are skipped, or false. */
export const withoutBrowser: string | false =
  testBrowserPath === null ? 'neither chromium-headless-shell nor chromium is on the PATH' : false;

/** The same for tests that run deployments, too. */
export const withoutRuns: string | false = withoutBrowser || withoutTerraform;

export interface Viewport {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly deviceScaleFactor?: number;
}

/** Many times what anything takes, also on a busy machine. */
const patienceMilliseconds = 60_000;

/** A browser without windows. @param options more of its command line; path of another program */
export function startBrowser({
  args = [],
  program = testBrowserPath,
}: {
  readonly args?: readonly string[];
  readonly program?: string | null;
} = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: program ?? '',
    args: [
      // Containers have little shared memory.
      '--disable-dev-shm-usage',
      // Its own sandbox needs a user other than root.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...args,
    ],
  });
}

/** A new profile with one page: no one is signed in. */
export async function openPage(browser: Browser, viewport: Viewport = {}): Promise<Page> {
  const { width = 1440, height = 900, colorScheme = 'light', deviceScaleFactor = 1 } = viewport;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    deviceScaleFactor,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  context.setDefaultTimeout(patienceMilliseconds);
  return context.newPage();
}

/** Answers the browser's own questions, one after the other, while something happens. @returns the questions */
export async function withAnswers(
  page: Page,
  answers: readonly boolean[],
  act: () => Promise<unknown>,
): Promise<string[]> {
  const questions: string[] = [];
  const answer = async (dialog: Dialog) => {
    questions.push(dialog.message());
    await (answers[questions.length - 1] ? dialog.accept() : dialog.dismiss());
  };
  page.on('dialog', answer);
  await act();
  page.off('dialog', answer);
  return questions;
}

/**
 * Chooses from the list of a field. The list is opened once more if it closes before the click: while its options are
 * still read, or because a dialog that opens moves the focus.
 * @param option its name or a part of it
 */
export async function chooseOption(
  page: Page,
  label: string | RegExp,
  option: string | RegExp,
  { exact = false } = {},
): Promise<void> {
  const wanted = page.getByRole('option', { name: option, exact });
  await until(`the option ${option}`, async () => {
    await page.getByRole('combobox', { name: label }).last().click();
    return wanted.click({ timeout: 5000 }).then(
      () => true,
      () => false,
    );
  });
}

/**
 * Holds back a request and its repetitions, as a slow network does.
 * @param path such as `/api/configuration`
 * @returns sends them, as soon as the first has arrived
 */
export async function holdRequest(page: Page, method: string, path: string): Promise<() => Promise<void>> {
  const { promise: hasArrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const sent: Promise<void>[] = [];
  const isMeant = (url: URL) => url.pathname === path;
  await page.route(isMeant, (route) => {
    if (route.request().method() !== method) return route.fallback();
    arrive();
    sent.push(isReleased.then(() => route.continue()));
  });
  return async () => {
    await hasArrived;
    release();
    await Promise.all(sent);
    await page.unroute(isMeant);
  };
}

/**
 * Holds back a part of the interface, as a slow network does.
 * @param name of its module, such as `AuditPage`
 * @returns sends it
 */
export async function holdPart(page: Page, name: string): Promise<() => void> {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  await page.route(`**/assets/${name}-*.js`, async (route) => {
    await isReleased;
    await route.continue();
  });
  return release;
}

/**
 * Everything that the browser complains about from now on, among it what the content security policy forbids; not
 * requests that end with their page, and not that no one has signed in yet.
 */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isSignedOut = /status of 401/.test(message.text());
    if (message.type() === 'error' && !isSignedOut) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${reason}`);
  });
  return complaints;
}

/** Signs in by the form, as a person does. @param url of the service, without a slash at its end */
export async function signIn(page: Page, url: string, person: Person = admin): Promise<void> {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel(/^E-mail/).fill(person.email);
  await page.getByLabel(/^Password/).fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** A service with an administrator; from its bundle, as `npm start` runs it. */
export async function startWebService(options: ServiceOptions = {}): Promise<RunningService> {
  const service = await startService({ isLaunched: true, ...options });
  await createAdmin(service.client);
  return service;
}

/** Waits until a page has read what it shows, its fonts too, and the browser has nothing left to do. */
export async function untilStill(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // Waiting in the page itself would require `eval`, which the content policy refuses.
  await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 2000 }))');
}
