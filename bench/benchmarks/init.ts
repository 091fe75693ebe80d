/**
 * Init with a large provider: many environments at once with an empty cache, then one by one with a full one, and
 * finally with the result of an earlier init.
 */
import { execFile } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { startProviderRegistry } from '../../agent/testing/provider-registry.ts';
import { toolboxProgram } from '../../tools/toolbox/places.ts';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { readTimelines } from '../measure/timeline.ts';

const run = promisify(execFile);
const megabyte = 1_000_000;
const name = 'bench/large';
const lockFile = '.terraform.lock.hcl';

const configuration = `terraform {
  required_providers {
    large = {
      source  = "${name}"
      version = "1.0.0"
    }
  }
}

${oneResource}`;

/** Of a small provider, a program that is as large as one of a cloud, unpacked and packed: bytes at its end. */
async function enlarged(file: string, megabytes: number): Promise<Buffer> {
  const program = await readFile(file);
  const content = Buffer.alloc(megabytes * megabyte);
  for (let at = 0; at < content.length; at += megabyte)
    randomFillSync(content.subarray(at, at + megabyte / 4));
  program.copy(content);
  return content;
}

/** @throws Error if there is no provider to start with */
async function readProvider(isQuick: boolean): Promise<Buffer> {
  if (process.env.BENCH_PROVIDER) return readFile(process.env.BENCH_PROVIDER);
  const small = toolboxProgram('provider-time');
  if (!small)
    throw new Error(
      'run npm run toolbox -- provider-time, or set BENCH_PROVIDER to the program of a provider',
    );
  return enlarged(small, isQuick ? 60 : 675);
}

/** The tool alone, with its own cache. @returns the milliseconds of its init, in a fresh folder */
async function initByHand(folder: string, code: string, cliConfiguration: string): Promise<number> {
  const cwd = await mkdtemp(join(folder, 'by-hand-'));
  await copyFile(join(code, 'main.tf'), join(cwd, 'main.tf'));
  await copyFile(join(code, lockFile), join(cwd, lockFile)).catch(() => undefined);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    CHECKPOINT_DISABLE: '1',
    TF_CLI_CONFIG_FILE: cliConfiguration,
  };
  const startedAt = performance.now();
  await run('terraform', ['init', '-input=false'], { cwd, env });
  const milliseconds = performance.now() - startedAt;
  await copyFile(join(cwd, lockFile), join(code, lockFile));
  await rm(cwd, { recursive: true });
  return milliseconds;
}

/** Deploys new environments at the same time. @returns the milliseconds of each init */
async function deployAtOnce(service: BenchService, repository: string, count: number): Promise<number[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push(await createEnvironment(service, repository, false));
  const deployed = await Promise.all(ids.map((id) => deployAndWatch(service, id)));
  const timelines = await readTimelines(
    service,
    deployed.map(({ id }) => id),
  );
  return timelines.map(({ phases }) =>
    phases.filter(({ phase }) => phase === 'init').reduce((sum, { milliseconds }) => sum + milliseconds, 0),
  );
}

async function withService<Value>(
  settings: Readonly<Record<string, string>>,
  work: (service: BenchService) => Promise<Value>,
): Promise<Value> {
  await using folder = await scratchFolder();
  await using service = await startService(folder, { settings });
  return await work(service);
}

/** Many at once, then one by one in alternation with the tool alone. */
async function measureInits(
  service: BenchService,
  repository: string,
  { atOnce, rounds, byHand }: { atOnce: number; rounds: number; byHand: () => Promise<number> },
) {
  const startedAt = performance.now();
  await deployAtOnce(service, repository, atOnce);
  const allEnded = performance.now() - startedAt;
  const pairs: { ours: number; tool: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const tool = await byHand();
    const [ours = 0] = await deployAtOnce(service, repository, 1);
    pairs.push({ ours, tool });
  }
  return { allEnded, pairs };
}

/** @returns the milliseconds of each init that uses the result of the first one */
async function measureReused(service: BenchService, repository: string, rounds: number): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) samples.push(...(await deployAtOnce(service, repository, 1)));
  return samples.slice(1);
}

/** The configuration with its lock file. */
async function filesIn(code: string): Promise<Record<string, string>> {
  const names = ['main.tf', lockFile];
  const read = names.map(async (name) => [name, await readFile(join(code, name), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(read));
}

export const initBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const content = await readProvider(isQuick);
  const [atOnce, rounds] = isQuick ? [4, 2] : [20, 10];
  await using registry = await startProviderRegistry([{ name, version: '1.0.0', content }]);
  await using folder = await scratchFolder();
  const host = `host "registry.terraform.io" {\n  services = { "providers.v1" = "${registry.providers}" }\n}\n`;
  const ownCache = join(folder.path, 'cache-of-the-tool');
  const ownConfiguration = join(folder.path, 'terraform.rc');
  await mkdir(ownCache);
  await writeFile(ownConfiguration, `plugin_cache_dir = "${ownCache}"\n${host}`);
  const code = await mkdtemp(join(folder.path, 'code-'));
  await writeFile(join(code, 'main.tf'), configuration);
  await initByHand(folder.path, code, ownConfiguration);
  const repository = await makeRepository(folder.repositories, 'large', await filesIn(code));
  const downloadsBefore = registry.downloads(name);
  const settings = {
    ENVARIUM_TERRAFORM_CLI_CONFIG: host,
    ENVARIUM_AGENT_CONCURRENCY: String(atOnce),
    ENVARIUM_GIT_LOCAL_PATHS: folder.repositories,
    ENVARIUM_PROVIDER_CACHE_DIR: join(folder.path, 'cache-of-the-agent'),
  };
  const byHand = () => initByHand(folder.path, code, ownConfiguration);
  const withoutReuse = { ...settings, ENVARIUM_REUSE_INIT: 'false' };
  const { allEnded, pairs } = await withService(withoutReuse, (service) =>
    measureInits(service, repository, { atOnce, rounds, byHand }),
  );
  const reused = await withService(settings, (service) => measureReused(service, repository, rounds));
  const downloads = registry.downloads(name) - downloadsBefore;
  if (downloads !== 1) throw new Error(`the service downloaded the provider ${downloads} times`);
  return {
    figures: [
      figure(
        'warm init',
        'ms',
        pairs.map(({ ours }) => ours),
      ),
      figure(
        "the tool's own",
        'ms',
        pairs.map(({ tool }) => tool),
      ),
      figure(
        "ratio to the tool's own",
        '×',
        pairs.map(({ ours, tool }) => ours / tool),
      ),
      figure('reused init', 'ms', reused),
      figure('at once, with an empty cache: until all have ended', 'ms', [allEnded]),
    ],
    settings: {
      provider: basename(process.env.BENCH_PROVIDER ?? 'a small one, enlarged'),
      megabytes: Math.round(content.length / megabyte),
      atOnce,
      downloads,
      rounds,
    },
  };
};
