/**
 * `npm run bench`: measures a complete service and compares it with the bare tools. Arguments select benchmarks.
 */
import { parseArgs } from 'node:util';
import { accessBench } from './benchmarks/access.ts';
import { approvalBench } from './benchmarks/approval.ts';
import { claimBench } from './benchmarks/claim.ts';
import { deployBench, ordinaryBench } from './benchmarks/deploy.ts';
import type { Bench } from './figure.ts';
import { elsewhereBench } from './benchmarks/elsewhere.ts';
import { followersBench } from './benchmarks/followers.ts';
import { initBench } from './benchmarks/init.ts';
import { isolationBench } from './benchmarks/isolation.ts';
import { kubernetesBench } from './benchmarks/by-tool/kubernetes.ts';
import { listBench } from './benchmarks/list.ts';
import { describeMachine } from './machine.ts';
import { manyBench } from './benchmarks/many.ts';
import { memoryBench } from './benchmarks/memory.ts';
import { notificationsBench } from './benchmarks/notifications.ts';
import { policiesBench } from './benchmarks/policies.ts';
import { previewBench } from './benchmarks/by-tool/preview.ts';
import { readyBench } from './benchmarks/ready.ts';
import { repositoryVariablesBench } from './benchmarks/repository-variables.ts';
import { asTable, keep, type Kept, type Recorded, writePage } from './report.ts';
import { recoveryBench } from './benchmarks/recovery.ts';
import { searchBench } from './benchmarks/search.ts';
import { serversBench } from './benchmarks/servers.ts';
import { teamsBench } from './benchmarks/teams.ts';
import { timersBench } from './benchmarks/timers.ts';
import { toolsBench } from './benchmarks/tools.ts';
import { unitsBench } from './benchmarks/by-tool/units.ts';
import { variablesBench } from './benchmarks/variables.ts';
import { webBench } from './benchmarks/web.ts';

const benches: Readonly<Record<string, Bench>> = {
  ready: readyBench,
  deploy: deployBench,
  ordinary: ordinaryBench,
  many: manyBench,
  approval: approvalBench,
  elsewhere: elsewhereBench,
  servers: serversBench,
  init: initBench,
  tools: toolsBench,
  kubernetes: kubernetesBench,
  units: unitsBench,
  preview: previewBench,
  followers: followersBench,
  isolation: isolationBench,
  claim: claimBench,
  list: listBench,
  access: accessBench,
  search: searchBench,
  teams: teamsBench,
  timers: timersBench,
  notifications: notificationsBench,
  variables: variablesBench,
  repositoryVariables: repositoryVariablesBench,
  policies: policiesBench,
  recovery: recoveryBench,
  memory: memoryBench,
  web: webBench,
};

const usage = `Usage: npm run bench -- [--quick | --page] [${Object.keys(benches).join(' | ')} …]

Without names all benches run, in at most 30 minutes. Results are printed and kept in bench/results/<date>.json.
  --quick   fewer rounds and shorter waits, to see whether it works; not kept
  --page    also writes the day's results into docs/performance.md
`;

interface Choice {
  readonly isQuick: boolean;
  readonly writesPage: boolean;
  readonly names: readonly string[];
}

function readChoice(): Choice | null {
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
  const start = performance.now();
  const result = await (benches[name] as Bench)({ isQuick });
  return {
    bench: name,
    at: new Date().toISOString(),
    seconds: Math.round((performance.now() - start) / 100) / 10,
    machine,
    ...result,
  };
}

async function main({ isQuick, writesPage, names }: Choice): Promise<void> {
  const recorded: Recorded[] = [];
  let kept: Kept | null = null;
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
