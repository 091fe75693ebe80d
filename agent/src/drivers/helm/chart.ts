/** The chart of a run: where it is, and what brings it and its dependencies. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { readRepository } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { helmNames, readHelmVariables } from '#protocol/tools/helm/variables.ts';
import { helm as facts } from '#protocol/tools/helm.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { Command, Note } from '../interface/command.ts';
import type { DriverContext, FileToWrite } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { helmHome, pulledFolder } from './places.ts';

const [step = ''] = facts.steps.prepare;
const program = facts.program.name;
const repositoriesFile = `${helmHome}/repositories.yaml`;
const registryFile = `${helmHome}/registry.json`;
const repositoryName = 'envarium';

type Chart = NonNullable<Job['source']['chart']>;

function isRegistry(repository: string): boolean {
  return /^oci:\/\//i.test(repository);
}

/** Says why a chart cannot be taken from a chart repository; null if it can. */
export function chartRefusal({ source: { chart, repository, httpHosts } }: Job): string | null {
  if (chart === undefined) return null;
  const pattern = isRegistry(repository) ? /^[a-z0-9][\w./-]*$/i : /^[a-z0-9][\w.-]*$/i;
  if (!pattern.test(chart.name) || chart.name.includes('..'))
    return 'helmChartName: the name of a chart has letters, digits, . _ and -';
  const address = readRepository(repository.replace(/^oci:/i, 'https:'), { httpHosts, localPaths: [] });
  return 'refusal' in address ? address.refusal : null;
}

/** The folder of the chart, relative to the configuration's. */
export function chartFolder({ source: { chart } }: Job): string {
  return chart === undefined ? '.' : `./${pulledFolder}/${chart.name.split('/').at(-1)}`;
}

interface ChartDependency {
  readonly name: string;
  readonly repository: string;
}

async function readChartFile({ job, tree }: DriverContext): Promise<ChartDependency[]> {
  const { path, repository } = job.source;
  const text = await tree.text('Chart.yaml');
  if (text === null)
    throw new Error(
      `No chart: ${path ? `path ${JSON.stringify(path)}` : 'the root'} of ${repository} has no Chart.yaml; set path to ` +
        'the folder of the chart',
    );
  let chart: unknown;
  try {
    chart = parse(text, { maxAliasCount: 100, logLevel: 'error' });
  } catch (error) {
    throw new Error(`Chart.yaml does not parse: ${(error as Error).message.split('\n')[0]}`, {
      cause: error,
    });
  }
  const { dependencies } = recordOf(chart);
  if (!Array.isArray(dependencies)) return [];
  return dependencies.filter(isRecord).map(({ name, repository: from }) => ({
    name: String(name),
    repository: typeof from === 'string' ? from : '',
  }));
}

async function missingDependencies(context: DriverContext): Promise<ChartDependency[]> {
  const dependencies = await readChartFile(context);
  if (dependencies.length === 0) return [];
  const names = await context.tree.list('charts').catch(() => []);
  return dependencies.filter(
    ({ name }) =>
      !names.some((entry) => entry === name || (entry.startsWith(`${name}-`) && entry.endsWith('.tgz'))),
  );
}

/** Addresses of other charts that a chart needs and does not contain. */
async function dependencyRepositories(context: DriverContext): Promise<string[]> {
  const missing = await missingDependencies(context);
  return [...new Set(missing.map(({ repository }) => repository))].filter((url) =>
    /^(https?|oci):/i.test(url),
  );
}

function hostOf(url: string): string {
  return URL.parse(url.replace(/^oci:/i, 'https:'))?.host ?? '';
}

/** Credentials go to one host only. @throws Error that names the hosts if there are several */
function requireOneHost(urls: readonly string[]): void {
  const hosts = [...new Set(urls.map(hostOf))];
  if (hosts.length > 1)
    throw new Error(
      `${helmNames.username} and ${helmNames.password} belong to one host, and the chart's dependencies are on several ` +
        `(${hosts.join(', ')}): put the charts of all but one into its folder charts`,
    );
}

/** Options of `helm` that no command line shows: addresses with their credentials. */
function credentialFiles(job: Job, urls: readonly string[]): FileToWrite[] {
  const { credentials } = readHelmVariables(runEnvironment(job));
  if (credentials !== null) requireOneHost(urls);
  const { username, password } = credentials ?? {};
  const login = credentials === null ? {} : { username, password };
  const repositories = urls
    .filter((url) => !isRegistry(url))
    .map((url, index) => ({
      name: index === 0 ? repositoryName : `${repositoryName}-${index}`,
      url,
      ...login,
    }));
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const registries = urls.filter(isRegistry).map((url) => [hostOf(url), { auth }] as const);
  return [
    {
      name: repositoriesFile,
      content: JSON.stringify({ apiVersion: 'v1', generated: '2000-01-01T00:00:00Z', repositories }),
      isSecret: true,
    },
    {
      name: registryFile,
      content: JSON.stringify({ auths: credentials === null ? {} : Object.fromEntries(registries) }),
      isSecret: true,
    },
  ];
}

/** Files of a run that helm would take for parts of the chart. */
const ignored = [`${ownFolder}/`, '.git/', 'envarium.env-vars.json', 'envarium.system-env-vars.json'];
const ignoreFile = '.helmignore';

async function helmIgnore(tree: TreeReader): Promise<FileToWrite> {
  const lines = ((await tree.text(ignoreFile)) ?? '').split(/\r?\n/);
  const added = ignored.filter((entry) => !lines.includes(entry));
  return {
    name: ignoreFile,
    content: [...lines.filter((line) => line !== ''), ...added, ''].join('\n'),
    isSecret: false,
  };
}

/**
 * Files of a run that say where charts are, and keep the run's own files out of the chart.
 * @throws Error for people where there is no chart
 */
export async function chartFiles(context: DriverContext): Promise<FileToWrite[]> {
  const { job, tree } = context;
  const { chart, repository } = job.source;
  if (chart !== undefined) return credentialFiles(job, [repository]);
  return [...credentialFiles(job, await dependencyRepositories(context)), await helmIgnore(tree)];
}

/** Folder of these files and of all other files of helm. */
export function chartEnvironment({
  configurationFolder,
  temporaryFolder,
}: DriverContext): Record<string, string> {
  const place = (name: string) => join(temporaryFolder, 'helm', name);
  return {
    HELM_REPOSITORY_CONFIG: join(configurationFolder, repositoriesFile),
    HELM_REGISTRY_CONFIG: join(configurationFolder, registryFile),
    HELM_REPOSITORY_CACHE: place('repositories'),
    HELM_CACHE_HOME: place('cache'),
    HELM_CONFIG_HOME: place('config'),
    HELM_DATA_HOME: place('data'),
  };
}

function fetching(verb: string, args: readonly string[]): Command {
  return { step, program, label: `${program} ${verb}`, args, loadsModules: true };
}

function pullCommands({ job }: DriverContext, { name, version }: Chart): Command[] {
  const { repository, httpHosts } = job.source;
  const wanted = version === undefined ? [] : [`--version=${version}`];
  const into = ['--untar', `--untardir=${pulledFolder}`];
  if (!isRegistry(repository))
    return [
      fetching('repo update', ['repo', 'update', repositoryName, '--fail-on-repo-update-fail']),
      fetching('pull', ['pull', `${repositoryName}/${name}`, ...wanted, ...into]),
    ];
  const host = hostOf(repository);
  const isPlain = httpHosts.includes(host) || httpHosts.includes(host.replace(/:\d+$/, ''));
  const place = `${repository.replace(/\/+$/, '')}/${name}`;
  return [fetching('pull', ['pull', place, ...wanted, ...into, ...(isPlain ? ['--plain-http'] : [])])];
}

/** Brings the chart in a plan phase; an apply has it in the tree that was planned. */
export async function prepareChart(context: DriverContext): Promise<(Command | Note)[]> {
  const { job } = context;
  const { chart } = job.source;
  if (job.type === 'destroy') return [{ step, note: 'A destroy needs no chart.' }];
  if (chart !== undefined) {
    if (job.phase === 'apply') return [{ step, note: `The chart ${chart.name} of the plan is used.` }];
    return pullCommands(context, chart);
  }
  const missing = await missingDependencies(context);
  if (missing.length === 0) return [{ step, note: 'The chart is complete.' }];
  return [fetching('dependency build', ['dependency', 'build', '.'])];
}

/** More files than any chart has. */
const mostFiles = 5_000;

/** All files below a folder with their texts; a chart has text files only, and archives of other charts. */
async function* filesBelow(tree: TreeReader, folder: string): AsyncGenerator<readonly [string, string]> {
  for (const name of await tree.list(folder)) {
    const path = `${folder}/${name}`;
    const names = await tree.list(path).catch(() => null);
    if (names !== null) yield* filesBelow(tree, path);
    else yield [path, (await tree.text(path)) ?? ''];
  }
}

/** SHA-256 of the names and texts of a pulled chart; null if the commit says what the chart is. */
export async function chartDigest({ job, tree }: DriverContext): Promise<string | null> {
  if (job.source.chart === undefined) return null;
  const folder = chartFolder(job).slice(2);
  const hash = createHash('sha256');
  let count = 0;
  for await (const [path, text] of filesBelow(tree, folder)) {
    if ((count += 1) > mostFiles) throw new Error(`the chart has more than ${mostFiles} files`);
    hash.update(`${path.slice(folder.length)}\0${text}\0`);
  }
  return hash.digest('hex');
}
