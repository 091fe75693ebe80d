/**
 * Lighthouse, which is installed for this benchmark alone: it brings more packages and bytes than the service has.
 */
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from '../../tools/npm/install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = join(root, 'bench', 'lighthouse');
const folder = join(root, '.cache', 'lighthouse');

export const categories = ['performance', 'accessibility', 'best-practices'] as const;
/** From 0 to 100. */
export type Scores = Readonly<Record<(typeof categories)[number], number>>;

/** The part of the package that this benchmark uses. */
interface Lighthouse {
  default(
    url: string,
    flags: {
      port: number;
      output: 'json';
      onlyCategories: readonly string[];
      disableStorageReset: boolean;
      maxWaitForLoad: number;
    },
    config: unknown,
  ): Promise<{ lhr: Report } | undefined>;
  readonly desktopConfig: unknown;
}

interface Audit {
  readonly score: number | null;
  readonly title: string;
  readonly details?: { readonly items?: readonly { readonly description?: string }[] };
}

interface Report {
  readonly runtimeError?: { readonly message: string };
  readonly finalDisplayedUrl: string;
  readonly categories: Readonly<
    Record<string, { readonly score: number | null; readonly auditRefs: readonly { readonly id: string }[] }>
  >;
  readonly audits: Readonly<Record<string, Audit>>;
}

/** Audits of the categories that found something, other than those of performance, which are degrees. */
function findingsOf({ categories: found, audits }: Report): string[] {
  return ['accessibility', 'best-practices'].flatMap((category) =>
    (found[category]?.auditRefs ?? []).flatMap(({ id }) => {
      const { score = null, title = id, details } = audits[id] ?? {};
      const items = (details?.items ?? []).flatMap(({ description = [] }) => description);
      return score !== null && score < 1 ? [`${category}: ${[title, ...items].join('; ')}`] : [];
    }),
  );
}

/**
 * Installs Lighthouse where it is missing.
 * @returns what examines a page in the browser at a debugging port, with its cookies
 */
export async function openLighthouse(): Promise<
  (url: string, port: number) => Promise<{ scores: Scores; findings: string[] }>
> {
  await mkdir(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) await cp(join(source, file), join(folder, file));
  await ensureInstalled(folder, { withDev: false });
  const file = join(folder, 'node_modules', 'lighthouse', 'core', 'index.js');
  const lighthouse = (await import(pathToFileURL(file).href)) as Lighthouse;
  return async (url, port) => {
    const report = await examine(lighthouse, url, port);
    const scoreOf = (category: string) => Math.round((report.categories[category]?.score ?? 0) * 100);
    return {
      scores: Object.fromEntries(categories.map((name) => [name, scoreOf(name)])) as unknown as Scores,
      findings: findingsOf(report),
    };
  };
}

const attempts = 4;

/** On a busy machine a recording can miss its beginning: then it is made again. */
async function examine(lighthouse: Lighthouse, url: string, port: number): Promise<Report> {
  let reason = 'no report';
  for (let attempt = 0; attempt < attempts; attempt++) {
    const flags = {
      port,
      output: 'json',
      onlyCategories: categories,
      disableStorageReset: true,
      // The event stream never ends: Lighthouse would wait for a quiet network.
      maxWaitForLoad: 12_000,
    } as const;
    const report = (await lighthouse.default(url, flags, lighthouse.desktopConfig))?.lhr;
    if (report !== undefined && report.runtimeError === undefined) {
      if (report.finalDisplayedUrl === url) return report;
      throw new Error(`Lighthouse examined ${report.finalDisplayedUrl} and not ${url}`);
    }
    reason = report?.runtimeError?.message ?? reason;
  }
  throw new Error(`Lighthouse could not examine ${url}: ${reason}`);
}
