/** The web interface in a real browser: sizes of installations and logs, and many tabs. */
import { availableParallelism } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { chromiumPath, startBrowser } from '../../acceptance/web/browser.ts';
import { createAdmin } from '../../acceptance/web/showcase.ts';
import { freePort } from '../../tools/suite/free-port.ts';
import { connectTo } from '../measure/database.ts';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, type Figure, figure } from '../measure/figure.ts';
import { copyEnvironment } from '../measure/many-environments.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { type BrowserState, pagesSignedIn, signInOnce } from '../web/browser.ts';
import { measureLargePlan } from '../web/large-plan.ts';
import { categories, openLighthouse } from '../web/lighthouse.ts';
import { type LongLog, measureLongLog, printLines } from '../web/long-log.ts';
import { measureFirstVisits, measureRows } from '../web/pages.ts';
import { measureStatusChanges } from '../web/status-changes.ts';

interface Parts {
  readonly service: BenchService;
  readonly browser: Browser;
  readonly signedIn: BrowserState;
}

const name = 'storefront';
const lookMilliseconds = 4_000;

/** The list, opened from the first page, and its next pages. */
async function listFigures({ service, browser, signedIn }: Parts, count: number): Promise<Figure[]> {
  const openings: number[] = [];
  const turns: number[] = [];
  for (let visit = 0; visit < count; visit++) {
    await using opened = await pagesSignedIn(browser, signedIn, { tabs: 1 });
    const [page] = opened.pages as [Page];
    await page.goto(service.url);
    await page.locator('#page-title').waitFor();
    // No one opens the list before having seen the page.
    await page.waitForTimeout(lookMilliseconds);
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Environments' });
    openings.push(await measureRows(link));
    for (let turn = 0; turn < 5; turn++)
      turns.push(
        await measureRows(
          page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Next' }),
        ),
      );
  }
  return [figure('list: first page', 'ms', openings), figure('list: next page', 'ms', turns)];
}

/** Home, list and a deployment, each several times; what Lighthouse finds is printed. */
async function lighthouseFigures(
  { service, browser, signedIn }: Parts,
  { port, deploymentId, count }: { port: number; deploymentId: string; count: number },
): Promise<Figure[]> {
  const examine = await openLighthouse();
  const session = await browser.newBrowserCDPSession();
  const cookies = signedIn.cookies.map(({ name, value, httpOnly }) => ({
    name,
    value,
    httpOnly,
    url: service.url,
  }));
  const examineSignedIn = async (path: string) => {
    // Pages that Lighthouse opens have the cookies of the default profile, which loses them with its last page.
    await session.send('Storage.setCookies', { cookies });
    return examine(`${service.url}${path}`, port);
  };
  const figures: Figure[] = [];
  for (const [page, path] of [
    ['home', '/'],
    ['list', '/environments'],
    ['deployment', `/deployments/${deploymentId}`],
  ] as const) {
    const all = [];
    for (let round = 0; round < count; round++) all.push(await examineSignedIn(path));
    for (const category of categories) {
      const scores = all.map(({ scores }) => scores[category]);
      figures.push(figure(`Lighthouse: ${page}, ${category.replace('-', ' ')}`, 'points', scores));
    }
    for (const finding of new Set(all.flatMap(({ findings }) => findings)))
      process.stderr.write(`${page}: ${finding}\n`);
  }
  return figures;
}

function logFigures({ loadedAfter, tasks, heapMegabytes, searches }: LongLog): Figure[] {
  return [
    figure('log: all lines there', 'ms', [loadedAfter]),
    // Browsers report tasks of 50 ms and more.
    figure('log: longest task while it scrolls', 'ms', [Math.max(0, ...tasks)]),
    figure('log: heap', 'MB', heapMegabytes),
    figure('log: search', 'ms', searches),
  ];
}

export const webBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const environments = isQuick ? 1_000 : 50_000;
  const tabs = isQuick ? 10 : 50;
  const rounds = isQuick ? 2 : 10;
  const visits = isQuick ? 2 : 10;
  const lines = isQuick ? 100_000 : 1_000_000;
  const resources = 5_000;
  const port = await freePort();
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder);
  await createAdmin(service.client);
  const environmentId = await createEnvironment(service, repository, false, { name });
  const { id: deploymentId } = await deployAndWatch(service, environmentId);
  await using browser = await startBrowser({
    args: [`--remote-debugging-port=${port}`],
    program: chromiumPath,
  });
  const signedIn = await signInOnce(browser, service);
  await using database = await connectTo(service);
  const parts = { service, browser, signedIn };
  const lagsWith = (screens: { tabs: number; elsewhere?: number }) =>
    measureStatusChanges(
      service,
      { browser, signedIn, database },
      { environmentId, name, rounds, ...screens },
    );
  const lags = await lagsWith({ tabs });
  const lagsOfOne = await lagsWith({ tabs: 1, elsewhere: tabs - 1 });
  const logUrl = `${service.url}/deployments/${await printLines(service, environmentId, lines)}?tab=log`;
  const log = await measureLongLog(browser, signedIn, { url: logUrl, lines, port });
  const planUrl = `${service.url}/deployments/${deploymentId}?tab=plan`;
  const planTasks = await measureLargePlan(browser, signedIn, { url: planUrl, resources });
  await copyEnvironment(database, environmentId, { environments, deploymentsEach: 1 });
  const firstVisits = await measureFirstVisits(browser, signedIn, { url: service.url, count: visits });
  return {
    figures: [
      figure(`status change on ${tabs} screens of this machine`, 'ms', lags),
      figure(`status change on one screen, ${tabs - 1} elsewhere`, 'ms', lagsOfOne),
      figure('first page usable', 'ms', firstVisits),
      ...logFigures(log),
      figure(`plan of ${resources} resources: longest task while it scrolls`, 'ms', [
        Math.max(0, ...planTasks),
      ]),
      ...(await listFigures(parts, isQuick ? 1 : 5)),
      ...(await lighthouseFigures(parts, { port, deploymentId, count: isQuick ? 1 : 5 })),
    ],
    settings: {
      environments,
      tabs,
      rounds,
      visits,
      lines,
      resources,
      cores: availableParallelism(),
      browser: browser.version(),
    },
  };
};
