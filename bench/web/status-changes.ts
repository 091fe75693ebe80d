/** Time of a change of status from the commit in the database to the screens of many tabs. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { EnvironmentStatus } from '#contract/schema/enumerations.ts';
import { postgresChannel } from '../../server/src/ground/database/notices.ts';
import type { Database } from '../../server/src/ground/database/open.ts';
import type { BenchService } from '../measure/service.ts';
import { type BrowserState, pagesSignedIn } from './browser.ts';

/** The words of the statuses that an environment passes here, as the pages show them. */
const words = {
  ACTIVE: 'Active',
  DEPLOY_IN_PROGRESS: 'Deploying',
  WAITING_FOR_USER: 'Waiting for approval',
} as const satisfies Partial<Record<EnvironmentStatus, string>>;

interface StatusChange {
  readonly status: keyof typeof words;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Browsers give each host six connections per profile, and each tab has an event stream: so few share one. */
const tabsPerProfile = 2;
/** From the last change of a round to the first reading of the screens, and between two readings of one that is late. */
const settleMilliseconds = 2_000;
/** A screen that still does not show the change in the last of these readings has lost it. */
const maxReadings = 10;

/** Notes every status of an environment, when the transaction that set it has been committed. */
async function followCommits({ pool }: Database, environmentId: string) {
  const client = await pool.connect();
  const changes: StatusChange[] = [];
  let reading = Promise.resolve();
  const read = async (at: number) => {
    const text = 'select status from environment where id = $1';
    const { rows } = await pool.query<{ status: StatusChange['status'] }>(text, [environmentId]);
    const status = rows[0]?.status;
    if (status !== undefined && status in words && status !== changes.at(-1)?.status)
      changes.push({ status, at });
  };
  // A notice arrives with the commit; what is read after it may only be newer.
  const onNotice = () => {
    const at = performance.timeOrigin + performance.now();
    reading = reading.then(() => read(at));
  };
  client.on('notification', onNotice);
  await client.query(`listen ${postgresChannel}`);
  return {
    changes,
    async [Symbol.asyncDispose]() {
      await client.query(`unlisten ${postgresChannel}`);
      client.off('notification', onNotice);
      await reading;
      client.release();
    },
  };
}

/** Notes in the page when which word is shown in the row of the environment. */
async function watchRow(page: Page, name: string): Promise<void> {
  await page.evaluate(
    ([name, words]) => {
      const shown: StatusChange[] = [];
      const note = () => {
        const row = Array.from(document.querySelectorAll('tbody tr')).find((each) =>
          each.textContent?.includes(name),
        );
        const status = Object.keys(words).find((each) =>
          row?.textContent?.includes(words[each as StatusChange['status']]),
        );
        if (status === undefined || status === shown.at(-1)?.status) return;
        shown.push({
          status: status as StatusChange['status'],
          at: performance.timeOrigin + performance.now(),
        });
      };
      note();
      new MutationObserver(note).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
      });
      Object.assign(globalThis, { shown });
    },
    [name, words] as const,
  );
}

/** From each commit until the tab shows that status or a later one. */
function lagsOf(commits: readonly StatusChange[], shown: readonly StatusChange[]): number[] {
  return commits.map(({ at }, index) => {
    const rest = commits.slice(index).map(({ status }) => status);
    const seen = shown.find((each) => each.at >= at - 5 && rest.includes(each.status));
    return seen === undefined ? Infinity : Math.max(0, seen.at - at);
  });
}

/** The pause before a tab reads a list again that is current but for its order; the longest is twice as long. */
const rereadMilliseconds = 1_000;

/** Requests of a tab on another machine: its stream, and the list again some time after an event. */
async function followElsewhere({ client }: BenchService, organizationId: string, signal: AbortSignal) {
  let isReading = false;
  const readLater = async () => {
    if (isReading) return;
    isReading = true;
    await delay(rereadMilliseconds * (1 + Math.random()), undefined, { signal });
    isReading = false;
    await client.call('listEnvironments', { query: { organizationId, limit: 50 }, signal });
  };
  const reads: Promise<void>[] = [];
  try {
    for await (const event of client.stream('streamOrganization', {
      params: { id: organizationId },
      query: {},
      signal,
    }))
      if (event.event === 'deployment') reads.push(readLater().catch(() => undefined));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await Promise.all(reads);
}

/** The same for several tabs, until it is disposed of. */
async function tabsElsewhere(service: BenchService, count: number): Promise<AsyncDisposable> {
  const [organization] = await service.client.call('listOrganizations');
  const ending = new AbortController();
  const following = Array.from({ length: count }, () =>
    followElsewhere(service, organization?.id ?? '', ending.signal),
  );
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(following);
    },
  };
}

/**
 * Deploys an environment again and again, each time up to the approval, and cancels.
 * @returns milliseconds of each change on each screen
 */
export async function measureStatusChanges(
  service: BenchService,
  { browser, signedIn, database }: { browser: Browser; signedIn: BrowserState; database: Database },
  {
    environmentId,
    name,
    tabs,
    elsewhere = 0,
    rounds,
  }: { environmentId: string; name: string; tabs: number; elsewhere?: number; rounds: number },
): Promise<number[]> {
  const { client, url } = service;
  await using _others = await tabsElsewhere(service, elsewhere);
  await using opened = await pagesSignedIn(browser, signedIn, { tabs, tabsPerProfile });
  for (const page of opened.pages) {
    await page.goto(`${url}/environments`);
    await page.getByRole('row', { name: new RegExp(name) }).waitFor();
    await watchRow(page, name);
  }
  await using commits = await followCommits(database, environmentId);
  const lags: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = commits.changes.length;
    const { id } = await client.call('deployEnvironment', {
      params: { id: environmentId },
      body: { userRequiresApproval: true },
    });
    for await (const event of client.stream('streamDeployment', { params: { id } }))
      if (event.event === 'status' && event.data.status === 'WAITING_FOR_USER') break;
    await delay(500);
    await client.call('cancelDeployment', { params: { id } });
    await delay(settleMilliseconds);
    const changes = commits.changes.slice(before);
    for (const page of opened.pages) lags.push(...(await settledLags(page, changes)));
  }
  return lags;
}

/** The lags of one screen once it shows the last change; Infinity where it never does. */
async function settledLags(page: Page, changes: readonly StatusChange[]): Promise<number[]> {
  for (let reading = 1; ; reading++) {
    const shown = await page.evaluate(() => (globalThis as unknown as { shown: StatusChange[] }).shown);
    const lags = lagsOf(changes, shown);
    if (lags.at(-1) !== Infinity || reading === maxReadings) return lags;
    await delay(settleMilliseconds);
  }
}
