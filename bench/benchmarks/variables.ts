/** Resolving variables of many levels, listing them under load, and what they add to a deployment. */
import type { Variable } from '#contract/variables/shapes.ts';
import type { Context } from '../../server/src/framework/context.ts';
import { loadSealingKey } from '../../server/src/ground/secrets/key-ring.ts';
import { createSealer } from '../../server/src/ground/secrets/sealer.ts';
import { findHome } from '../../server/src/inputs/variables/find-home.ts';
import { levelsOf } from '../../server/src/inputs/variables/levels.ts';
import { resolveVariables } from '../../server/src/inputs/variables/resolve-variables.ts';
import { connectTo } from '../measure/database.ts';
import { createEnvironment, deployAndWatch, type Watched } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { putLoad } from '../measure/load.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { readTimelines } from '../measure/timeline.ts';

const counts = { resolved: 500, levels: 8, listed: 2000, deployed: 200, connections: 4 };
const mostPerRequest = 500;

type VariablePlacement = Pick<Variable, 'scope' | 'organizationId'> & { readonly scopeId?: string };

/** Every other variable of a level has the name of one further out. */
async function fill(
  { client }: BenchService,
  scopes: readonly VariablePlacement[],
  count: number,
  prefix: string,
) {
  const body = Array.from({ length: count }, (_, index) => ({
    ...scopes[index % scopes.length],
    name: `${prefix}_${scopes.length > 1 && index % 2 === 0 ? index / 2 : index}`,
    type: 0 as const,
    value: `value ${index} of about forty characters ........`,
    isSensitive: index % 10 === 0,
  }));
  for (let at = 0; at < count; at += mostPerRequest)
    await client.call('saveVariables', { body: body.slice(at, at + mostPerRequest) });
}

/** A tree of projects with an environment in the deepest. @returns its scopes, from the outermost */
async function makeLevels(
  service: BenchService,
  repository: string,
): Promise<{ id: string; scopes: VariablePlacement[] }> {
  const { client } = service;
  const id = await createEnvironment(service, repository, false);
  const { organizationId, projectId } = await client.call('getEnvironment', { params: { id } });
  const projectIds = [projectId];
  while (projectIds.length < counts.levels - 3) {
    const body = { organizationId, name: 'level', parentProjectId: projectIds.at(-1) ?? '' };
    projectIds.push((await client.call('createProject', { body })).id);
  }
  const moved = { projectId: projectIds.at(-1) ?? '' };
  await client.call('moveEnvironment', { params: { id }, body: moved });
  const { latestDeploymentLog } = await client.call('getEnvironment', { params: { id } });
  return {
    id,
    scopes: [
      { scope: 'GLOBAL', organizationId },
      { scope: 'BLUEPRINT', scopeId: latestDeploymentLog.blueprintId, organizationId },
      ...projectIds.map((scopeId) => ({ scope: 'PROJECT', scopeId, organizationId }) as const),
      { scope: 'ENVIRONMENT', scopeId: id, organizationId },
    ],
  };
}

/** In this process, with the service's database and key. @returns milliseconds of each */
async function timeResolving(
  service: BenchService,
  environmentId: string,
  rounds: number,
): Promise<number[]> {
  await using database = await connectTo(service);
  const settings = { dataFolder: service.folder.data, sealingKeyFile: undefined };
  const sealer = createSealer(loadSealingKey(settings, false));
  const context = { db: database.db, sealer } as unknown as Context;
  const times: number[] = [];
  for (let round = -20; round < rounds; round++) {
    const found = await findHome(database.db, { scope: 'ENVIRONMENT', scopeId: environmentId });
    if (!found) throw new Error('the environment of the benchmark is gone');
    const start = performance.now();
    await resolveVariables(context, levelsOf(found.home));
    if (round >= 0) times.push(performance.now() - start);
  }
  return times;
}

/** Lists them from several connections. @returns milliseconds of each request */
async function timeListing(
  service: BenchService,
  environmentId: string,
  milliseconds: number,
): Promise<number[]> {
  const [organization] = await service.client.call('listOrganizations');
  const query = new URLSearchParams({ organizationId: organization?.id ?? '', environmentId });
  const url = `${service.url}/api/configuration?${query}`;
  const headers = {
    authorization: `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`,
  };
  const { connections } = counts;
  await putLoad({ url, headers, connections, milliseconds: 1000 });
  return [...(await putLoad({ url, headers, connections, milliseconds })).latencies];
}

interface AddedTime {
  /** From the request to the final status. */
  readonly total: number;
  /** Of it, in tools, by the timelines: a tool takes longer to start with more variables. */
  readonly tool: number;
}

/** Deployments with and without variables, in alternation. @returns differences in milliseconds */
async function timeDeploying(
  service: BenchService,
  repository: string,
  rounds: number,
): Promise<AddedTime[]> {
  const [without, filled] = [
    await createEnvironment(service, repository, false),
    await createEnvironment(service, repository, false),
  ];
  const { organizationId } = await service.client.call('getEnvironment', { params: { id: filled } });
  await fill(service, [{ scope: 'ENVIRONMENT', scopeId: filled, organizationId }], counts.deployed, 'D');
  const watched = new Map<string, Watched[]>([
    [without, []],
    [filled, []],
  ]);
  for (let round = -2; round < rounds; round++)
    for (const id of round % 2 ? [filled, without] : [without, filled]) {
      const deployment = await deployAndWatch(service, id);
      if (round >= 0) watched.get(id)?.push(deployment);
    }
  const [plain, more] = await Promise.all(
    [without, filled].map(async (id) => {
      const deployments = watched.get(id) ?? [];
      const timelines = await readTimelines(
        service,
        deployments.map((each) => each.id),
      );
      return timelines.map(({ toolMilliseconds: tool, gitMilliseconds: git }, index) => ({
        total: deployments[index]?.ended ?? 0,
        tool: tool + git,
      }));
    }),
  );
  return (more ?? []).map(({ total, tool }, index) => ({
    total: total - (plain?.[index]?.total ?? 0),
    tool: tool - (plain?.[index]?.tool ?? 0),
  }));
}

export const variablesBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder);
  // First: later, deployments get hundreds of the organization's variables, too.
  const deploying = await timeDeploying(service, repository, isQuick ? 5 : 30);
  const resolved = await makeLevels(service, repository);
  await fill(service, resolved.scopes, counts.resolved, 'R');
  const resolving = await timeResolving(service, resolved.id, isQuick ? 50 : 500);
  await fill(service, resolved.scopes, counts.listed - counts.resolved, 'L');
  const listing = await timeListing(service, resolved.id, isQuick ? 2000 : 10_000);
  return {
    figures: [
      figure('resolving 500 variables over 8 levels', 'ms', resolving),
      figure('list of 2,000 variables', 'ms', listing),
      figure(
        'difference of a deployment with 200 variables',
        'ms',
        deploying.map(({ total }) => total),
      ),
      figure(
        'of it, without the time in tools',
        'ms',
        deploying.map(({ total, tool }) => total - tool),
      ),
    ],
    settings: { ...counts, rounds: deploying.length },
  };
};
