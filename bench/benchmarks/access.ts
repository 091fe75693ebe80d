/** Cost of identifying callers and their rights, and of lists for callers who see little. */
import { Agent, request } from 'node:http';
import { sql } from 'kysely';
import type { Database } from '../../server/src/ground/database/open.ts';
import { connectTo } from '../measure/database.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { copyEnvironment } from '../measure/many-environments.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { median } from '../measure/statistics.ts';
import { createFirst } from './list.ts';

const depth = 6;
const assignments = 50;
/** The person sees one environment of this many. */
const share = 100;
const limit = 100;

interface BenchKey {
  readonly id: string;
  readonly secret: string;
}

const basic = ({ id, secret }: BenchKey) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

interface BenchRequest {
  readonly method: string;
  readonly path: string;
  readonly expected: number;
  readonly key?: BenchKey;
  readonly body?: string;
}

/** @returns the time until the reply was read, in milliseconds. @throws Error for another status */
function time(
  service: BenchService,
  agent: Agent,
  { method, path, expected, key, body }: BenchRequest,
): Promise<number> {
  const headers = {
    ...(key ? { authorization: basic(key) } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
  };
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(`${service.url}${path}`, { method, agent, headers }, (response) => {
      response.on('error', reject).on('end', () => {
        if (response.statusCode === expected) resolve(performance.now() - start);
        else reject(new Error(`${method} ${path} answers ${response.statusCode}`));
      });
      response.resume();
    });
    sent.on('error', reject).end(body);
  });
}

/** Times two requests in alternation. @returns the times of each */
async function alternate(
  service: BenchService,
  pair: readonly [BenchRequest, BenchRequest],
  count: number,
): Promise<readonly [number[], number[]]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: [number[], number[]] = [[], []];
  try {
    for (let index = 0; index < count; index++)
      for (const side of [0, 1] as const) times[side].push(await time(service, agent, pair[side]));
  } finally {
    agent.destroy();
  }
  return times;
}

/** Trees of projects, 6 deep, with a role in each project. @returns the key, and the deepest project */
async function makeCaller(
  { client }: BenchService,
  organizationId: string,
): Promise<{ key: BenchKey; deepest: string }> {
  const projectsPermissions: { projectId: string; projectRole: string }[] = [];
  let parent: string | undefined;
  for (let index = 0; index < assignments; index++) {
    const above = index % depth === 0 ? {} : { parentProjectId: parent ?? '' };
    const body = { organizationId, name: `project ${index}`, ...above };
    parent = (await client.call('createProject', { body })).id;
    projectsPermissions.push({ projectId: parent, projectRole: 'Admin' });
  }
  const permissions = { organizationRole: 'User', projectsPermissions };
  const made = await client.call('createApiKey', { body: { organizationId, name: 'caller', permissions } });
  const deepest = projectsPermissions[depth - 1]?.projectId ?? '';
  return { key: { id: made.apiKeyId, secret: made.apiKeySecret }, deepest };
}

/** Moves one of a hundred environments to a project. @returns a key that sees only those */
async function makeReader(
  { client }: BenchService,
  { db }: Database,
  organizationId: string,
): Promise<{ key: BenchKey; visible: number }> {
  const { id } = await client.call('createProject', { body: { organizationId, name: 'seen' } });
  const { numAffectedRows } = await sql`update environment set project_id = ${id} where id in
    (select id from (select id, row_number() over (order by created_at desc) as number from environment) e
      where number % ${sql.lit(share)} = 0)`.execute(db);
  await sql`vacuum analyze environment`.execute(db);
  const permissions = {
    organizationRole: 'User',
    projectsPermissions: [{ projectId: id, projectRole: 'Viewer' }],
  };
  const made = await client.call('createApiKey', { body: { organizationId, name: 'reader', permissions } });
  return { key: { id: made.apiKeyId, secret: made.apiKeySecret }, visible: Number(numAffectedRows) };
}

export const accessBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const [rounds, requests] = isQuick ? [3, 200] : [10, 500];
  const environments = isQuick ? 20_000 : 50_000;
  await using folder = await scratchFolder();
  await using service = await startService(folder);
  const environmentId = await createFirst(service);
  await using database = await connectTo(service);
  const organizationId = (await service.client.call('listOrganizations'))[0]?.id ?? '';
  const { key, deepest } = await makeCaller(service, organizationId);
  // Both are refused for their bodies, after everything that is measured and before any other work.
  const body = '{"unknown":1}';
  const open: BenchRequest = { method: 'POST', path: '/api/auth/sign-in', expected: 400, body };
  const checked: BenchRequest = { method: 'PUT', path: `/api/projects/${deepest}`, expected: 400, key, body };
  await alternate(service, [open, checked], 1000);
  // Baseline of any statement: one request queries the database, the other does not.
  const alive: BenchRequest = { method: 'GET', path: '/healthz', expected: 200 };
  const ready: BenchRequest = { method: 'GET', path: '/readyz', expected: 200 };
  await alternate(service, [alive, ready], 1000);
  const differences: number[] = [];
  const statements: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [without, withAccess] = await alternate(service, [open, checked], requests);
    differences.push(median(withAccess) - median(without));
    const [withoutStatement, withStatement] = await alternate(service, [alive, ready], requests);
    statements.push(median(withStatement) - median(withoutStatement));
  }
  await copyEnvironment(database, environmentId, { environments: environments - 1, deploymentsEach: 2 });
  const reader = await makeReader(service, database, organizationId);
  const path = `/api/environments?organizationId=${organizationId}&limit=${limit}`;
  const list = (as: BenchKey): BenchRequest => ({ method: 'GET', path, expected: 200, key: as });
  const pair = [list({ id: service.key, secret: service.secret }), list(reader.key)] as const;
  await alternate(service, pair, 100);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [admin, some] = await alternate(service, pair, Math.ceil(requests / 5));
    ratios.push(median(some) / median(admin));
  }
  return {
    figures: [
      figure('authentication and rights', 'ms', differences),
      figure('an empty statement', 'ms', statements),
      figure("list for who may see 1 %, of the admin's", '×', ratios),
    ],
    settings: { assignments, depth, environments, visible: reader.visible, limit, rounds, requests },
  };
};
