/**
 * `npm run bench`: measures a complete service and compares it with the bare tools. Arguments select benchmarks.
 */
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import type { Bench } from './measure/figure.ts';
import { asTable, keep, type Recorded, type StoredResults, writePage } from './report.ts';

/** Each is loaded only when it runs: what others load, a browser's client among it, would slow down the client that measures. */
const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  ready: async () => (await import('./benchmarks/ready.ts')).readyBench,
  redeploy: async () => (await import('./benchmarks/redeploy.ts')).redeployBench,
  deploy: async () => (await import('./benchmarks/deploy.ts')).deployBench,
  ordinary: async () => (await import('./benchmarks/deploy.ts')).ordinaryBench,
  many: async () => (await import('./benchmarks/many.ts')).manyBench,
  approval: async () => (await import('./benchmarks/approval.ts')).approvalBench,
  elsewhere: async () => (await import('./benchmarks/elsewhere.ts')).elsewhereBench,
  servers: async () => (await import('./benchmarks/servers.ts')).serversBench,
  init: async () => (await import('./benchmarks/init.ts')).initBench,
  tools: async () => (await import('./benchmarks/tools.ts')).toolsBench,
  kubernetes: async () => (await import('./benchmarks/by-tool/kubernetes.ts')).kubernetesBench,
  units: async () => (await import('./benchmarks/by-tool/units.ts')).unitsBench,
  preview: async () => (await import('./benchmarks/by-tool/preview.ts')).previewBench,
  followers: async () => (await import('./benchmarks/followers.ts')).followersBench,
  isolation: async () => (await import('./benchmarks/isolation.ts')).isolationBench,
  claim: async () => (await import('./benchmarks/claim.ts')).claimBench,
  list: async () => (await import('./benchmarks/list.ts')).listBench,
  access: async () => (await import('./benchmarks/access.ts')).accessBench,
  search: async () => (await import('./benchmarks/search.ts')).searchBench,
  teams: async () => (await import('./benchmarks/teams.ts')).teamsBench,
  timers: async () => (await import('./benchmarks/timers.ts')).timersBench,
  notifications: async () => (await import('./benchmarks/notifications.ts')).notificationsBench,
  variables: async () => (await import('./benchmarks/variables.ts')).variablesBench,
  repositoryVariables: async () =>
    (await import('./benchmarks/repository-variables.ts')).repositoryVariablesBench,
  matching: async () => (await import('./benchmarks/discovery/matching.ts')).matchingBench,
  discovery: async () => (await import('./benchmarks/discovery/scans.ts')).discoveryBench,
  policies: async () => (await import('./benchmarks/policies.ts')).policiesBench,
  recovery: async () => (await import('./benchmarks/recovery.ts')).recoveryBench,
  memory: async () => (await import('./benchmarks/memory.ts')).memoryBench,
  web: async () => (await import('./benchmarks/web.ts')).webBench,
};

const usage = `Usage: npm run bench -- [--quick | --page] [${Object.keys(benches).join(' | ')} …]

Without names all benches run, in at most 30 minutes. Results are printed and kept in bench/results/<date>.json.
  --quick   fewer rounds and shorter waits, to see whether it works; not kept
  --page    also writes the day's results into docs/operate/performance.md
`;

interface BenchChoice {
  readonly isQuick: boolean;
  readonly writesPage: boolean;
  readonly names: readonly string[];
}

function readChoice(): BenchChoice | null {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean' }, page: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  const unknown = positionals.find((name) => !(name in benches));
  if (unknown !== undefined) throw new Error(`Unknown benchmark: ${unknown}.\n${usage}`);
  if (values.help) return null;
  const isQuick = values.quick ?? false;
  return {
    isQuick,
    writesPage: values.page === true && !isQuick,
    names: positionals.length > 0 ? positionals : Object.keys(benches),
  };
}

async function measure(name: string, isQuick: boolean): Promise<Recorded> {
  const machine = await describeMachine();
  const bench = await (benches[name] as () => Promise<Bench>)();
  const start = performance.now();
  const result = await bench({ isQuick });
  return {
    bench: name,
    at: new Date().toISOString(),
    seconds: Math.round((performance.now() - start) / 100) / 10,
    machine,
    ...result,
  };
}

async function main({ isQuick, writesPage, names }: BenchChoice): Promise<void> {
  const recorded: Recorded[] = [];
  let kept: StoredResults | null = null;
  for (const name of names) {
    process.stderr.write(`${name} … `);
    try {
      const one = await measure(name, isQuick);
      process.stderr.write(`${one.seconds} s\n`);
      recorded.push(one);
      // The next one may be interrupted.
      if (!isQuick) kept = await keep(one);
    } catch (error) {
      process.stderr.write(`failed: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    }
  }
  if (recorded.length === 0) return;
  process.stdout.write(`${asTable(recorded)}\n`);
  const { processor, cores, kernel, node, terraform, loadBefore } = (recorded[0] as Recorded).machine;
  process.stdout.write(`${processor}, ${cores} cores, ${kernel}, Node ${node}, ${terraform}\n`);
  if (loadBefore > cores / 2)
    process.stdout.write(
      `The machine was busy before (load ${loadBefore}): trust the ratios, not the times.\n`,
    );
  if (isQuick) return void process.stdout.write('A quick run: rough figures, not stored.\n');
  process.stdout.write(`Stored in ${kept?.file}\n`);
  if (writesPage && kept !== null) process.stdout.write(`Written to ${await writePage(kept.all)}\n`);
}

try {
  const choice = readChoice();
  if (choice === null) process.stdout.write(usage);
  else await main(choice);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
