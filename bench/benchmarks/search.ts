/**
 * The list of environments in a large organization: first and last pages, filters and searches, one request
 * after another.
 */
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { putLoad } from '../measure/load.ts';
import { scratchFolder, startService } from '../measure/service.ts';
import { fill } from './list.ts';

const limit = 100;

/** The queries, named after how many of the 50,000 environments they match. */
const questions = (environments: number): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  'first page': {},
  'last page': { offset: String(environments - limit) },
  'active environments': { isActive: 'true' },
  'exact name': { name: 'service 4242 staging' },
  'search with few results': { searchText: 'service 4242' },
  'search that matches a third': { searchText: 'production' },
  'search without results': { searchText: 'no such thing' },
});

export const searchBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const copies = { environments: isQuick ? 2_000 : 50_000, deploymentsEach: 1 };
  await using folder = await scratchFolder();
  await using service = await startService(folder);
  await fill(service, copies);
  const [organization] = await service.client.call('listOrganizations');
  const headers = {
    authorization: `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`,
  };
  const measure = (query: Readonly<Record<string, string>>, milliseconds: number) => {
    const parameters = new URLSearchParams({
      organizationId: organization?.id ?? '',
      limit: String(limit),
      ...query,
    });
    return putLoad({
      url: `${service.url}/api/environments?${parameters}`,
      headers,
      connections: 1,
      milliseconds,
    });
  };
  const figures = [];
  for (const [name, query] of Object.entries(questions(copies.environments))) {
    await measure(query, 500);
    const { latencies } = await measure(query, isQuick ? 500 : 2000);
    figures.push(figure(name, 'ms', latencies));
  }
  return { figures, settings: { ...copies, limit, connections: 1 } };
};
