/** Environment discovery of a complete service: reading repositories with many folders, and creating their environments. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DiscoveryScan } from '#contract/discovery/shapes.ts';
import { type Bench, type BenchResult, type Figure, figure } from '../../measure/figure.ts';
import { megabytesOf } from '../../measure/processes.ts';
import { type BenchService, scratchFolder, startService } from '../../measure/service.ts';

const pollMilliseconds = 20;
const longestMilliseconds = 300_000;
const globPattern = '**/main.tf';

function git(path: string, args: readonly string[], input = ''): void {
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', ['-C', path, ...args], { env, input, stdio: ['pipe', 'ignore', 'pipe'] });
}

/** One commit with folders of a `main.tf` each, all different, and other files. */
function commitOf(folders: number, filesOfFolder: number): string {
  const blob = (mark: number, text: string) => `blob\nmark :${mark}\ndata ${text.length}\n${text}\n`;
  const paths = Array.from(
    { length: folders },
    (_, index) => `environments/region-${index % 50}/service-${index}`,
  );
  const assets = Array.from({ length: filesOfFolder - 1 }, (_, index) => `assets/file-${index}.json`);
  const codes = paths.map((path, index) => blob(index + 2, `output "name" { value = "${path}" }\n`));
  const changes = paths.flatMap((path, index) => [
    `M 100644 :${index + 2} ${path}/main.tf`,
    ...assets.map((asset) => `M 100644 :1 ${path}/${asset}`),
  ]);
  const commit = `commit refs/heads/main\ncommitter Envarium <envarium@localhost> 0 +0000\ndata 0\n`;
  return `${blob(1, '{}')}${codes.join('')}${commit}${changes.join('\n')}\n`;
}

function makeFolders(parent: string, name: string, folders: number, filesOfFolder: number): string {
  git(parent, ['init', '--quiet', '--bare', '--initial-branch', 'main', name]);
  const path = join(parent, name);
  git(path, ['fast-import', '--quiet'], commitOf(folders, filesOfFolder));
  return path;
}

async function untilScan(
  { client }: BenchService,
  projectId: string,
  isReached: (scan: DiscoveryScan) => boolean,
): Promise<DiscoveryScan> {
  const deadline = performance.now() + longestMilliseconds;
  for (;;) {
    const [scan] = await client.call('listDiscoveryScans', { params: { projectId } });
    if (scan?.error !== undefined) throw new Error(scan.error);
    if (scan && isReached(scan)) return scan;
    if (performance.now() > deadline) throw new Error('The scan did not end in time.');
    await delay(pollMilliseconds);
  }
}

/** Most memory of the server while something is done, and the memory before it. */
async function growthDuring(service: BenchService, act: () => Promise<unknown>): Promise<number> {
  const before = await megabytesOf(service.pid);
  let most = before;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      most = Math.max(most, await megabytesOf(service.pid));
      await delay(100);
    }
  })();
  try {
    await act();
  } finally {
    isDone = true;
    await watching;
  }
  return most - before;
}

async function newProject({ client }: BenchService, name: string): Promise<string> {
  const [organization] = await client.call('listOrganizations');
  const body = { name, organizationId: organization?.id ?? '' };
  return (await client.call('createProject', { body })).id;
}

interface Times {
  readonly first: number;
  readonly unchanged: number;
  readonly created: number;
}

/** Environments of one repository in a project of its own: the first scan, the environments, and a scan of the same commit. */
async function discover(
  service: BenchService,
  { name, repository, folders }: { name: string; repository: string; folders: number },
): Promise<Times> {
  const projectId = await newProject(service, name);
  const params = { projectId };
  const startedAt = performance.now();
  await service.client.call('setDiscovery', { params, body: { repository, globPattern } });
  await untilScan(service, projectId, ({ matched }) => matched !== undefined);
  const first = performance.now() - startedAt;
  const { created: count } = await untilScan(
    service,
    projectId,
    ({ finishedAt }) => finishedAt !== undefined,
  );
  const created = performance.now() - startedAt;
  if (count !== folders) throw new Error(`${count} environments were created`);
  const scannedAt = performance.now();
  const { id } = await service.client.call('startDiscoveryScan', { params });
  await untilScan(service, projectId, (scan) => scan.id === id && scan.finishedAt !== undefined);
  return { first, created, unchanged: performance.now() - scannedAt };
}

export const discoveryBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const counts = isQuick
    ? { rounds: 1, folders: 50, largeFolders: 200, filesOfFolder: 40 }
    : { rounds: 3, folders: 1000, largeFolders: 5000, filesOfFolder: 40 };
  await using folder = await scratchFolder();
  // Deployments are measured elsewhere: here they wait.
  await using service = await startService(folder, { settings: { ENVARIUM_BUILT_IN_AGENT: 'false' } });
  const large = makeFolders(folder.repositories, 'large', counts.largeFolders, counts.filesOfFolder);
  const params = { projectId: await newProject(service, 'large') };
  const readings: number[] = [];
  const growths: number[] = [];
  for (let round = 0; round < counts.rounds; round++) {
    const startedAt = performance.now();
    const growth = await growthDuring(service, async () => {
      const body = { repository: large, globPattern };
      const { folders } = await service.client.call('previewDiscovery', { params, body });
      if (folders.length !== counts.largeFolders) throw new Error(`${folders.length} folders were found`);
    });
    readings.push(performance.now() - startedAt);
    // Later rounds reuse the memory of the first.
    if (round === 0) growths.push(growth);
  }
  const times: Times[] = [];
  for (let round = 0; round < counts.rounds; round++) {
    const name = `live-${round}`;
    const repository = makeFolders(folder.repositories, name, counts.folders, 1);
    times.push(await discover(service, { name, repository, folders: counts.folders }));
  }
  const all = (name: string, value: (each: Times) => number): Figure => figure(name, 'ms', times.map(value));
  const { folders, largeFolders, filesOfFolder } = counts;
  return {
    figures: [
      all(`first scan of ${folders} folders`, ({ first }) => first),
      all(`${folders} environments created, scan included`, ({ created }) => created),
      all(`scan of the same ${folders} folders again`, ({ unchanged }) => unchanged),
      figure(
        `preview of ${largeFolders} folders among ${largeFolders * filesOfFolder} files`,
        'ms',
        readings,
      ),
      figure('growth of the server in the first preview', 'MB', growths),
    ],
    settings: { ...counts, glob: globPattern, agents: 0 },
  };
};
