/**
 * The runner: one process, in its own session, that executes one attempt after the other. Each line on its
 * standard input is an order, or precedes them and says what to prepare; with the end of the input, it ends
 * after the order that it has. While it executes one, it shares only the spool folder with the agent. It uses
 * the network for tools and providers only, and always reports the end of an attempt as an outcome. Then it is
 * ready for the next order, unless the end was unusual: whatever it may have left in this process ends with it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { drivers } from '../drivers/index.ts';
import { useNetworkOrder } from '../network/network-order.ts';
import { whenThereIsSpace } from '../processes/full-disk.ts';
import { identifyProcess } from '../processes/proc.ts';
import { type RunnerOrder, type RunnerPreparation, type SpoolPaths, spoolPaths } from '../spool/layout.ts';
import { writeJson, writeJsonDurably } from '../spool/write-file.ts';
import { readyLine } from './ready-line.ts';
import { runPhase } from './run-phase.ts';
import { TreeLender } from './tree/tree-lender.ts';

const usualResults: readonly Outcome['result'][] = ['planned', 'applied'];

/**
 * Executes one order: records its identity first, its outcome last.
 * @returns the outcome
 * @throws only if the spool folder itself cannot be written
 */
async function executeOrder(order: RunnerOrder, lender: TreeLender): Promise<Outcome> {
  const spool = spoolPaths(order.attemptFolder);
  const end = endOnce((outcome) => writeOutcome(spool, outcome));
  const failed = (error: Error) => void end(internal(failure(error))).finally(() => process.exit(1));
  process.on('uncaughtException', failed);
  writeJson(spool.runner, identifyProcess(process.pid));
  try {
    if (isMarked(spool.mark)) return await end(internal('it was started before, and its outcome is unknown'));
    useNetworkOnce(order);
    return await end(await runPhase(order, drivers, lender));
  } catch (error) {
    return await end(internal(failure(error as Error)));
  } finally {
    process.off('uncaughtException', failed);
  }
}

let isNetworkUsed = false;

/** All orders of an agent have the same network settings. */
function useNetworkOnce({ network }: RunnerOrder): void {
  if (network !== undefined && !isNetworkUsed) useNetworkOrder(network);
  isNetworkUsed = true;
}

/** If memory runs out, a run is ended before the agent, the service or its database; its commands inherit it. */
function preferredByTheKernel(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // A container may not allow it.
  }
}

function isMarked(path: string): boolean {
  try {
    return readFileSync(path).length >= 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Waits for space on a full disk: without an outcome, the end of the run would remain unknown. */
async function writeOutcome({ outcome: file, events }: SpoolPaths, outcome: Outcome): Promise<void> {
  await whenThereIsSpace(() =>
    writeJsonDurably(
      file,
      outcome,
      [events].filter((each) => existsSync(each)),
    ),
  );
}

// Only the first outcome is written.
function endOnce(write: (outcome: Outcome) => Promise<void>): (outcome: Outcome) => Promise<Outcome> {
  let written: Promise<Outcome> | null = null;
  return (outcome) => (written ??= write(outcome).then(() => outcome));
}

function internal(message: string): Outcome {
  return { result: 'internal', finishedAt: new Date().toISOString(), error: { message } };
}

function failure(error: Error): string {
  return `the runner failed: ${error.message}`;
}

/** Executes the orders on standard input one after the other, and ends the process. */
export async function runRunner(): Promise<never> {
  // Without a listener, SIGUSR1 would start Node's debugger; the other signals are for tools only.
  process.on('SIGUSR1', () => {});
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => {});
  // It is not read once the agent has ended.
  process.stdout.on('error', () => {});
  preferredByTheKernel();
  const lender = new TreeLender();
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line) as RunnerOrder | RunnerPreparation;
    if ('runs' in message) {
      lender.prepare(message.runs);
      continue;
    }
    const { result } = await executeOrder(message, lender);
    if (!usualResults.includes(result)) break;
    process.stdout.write(`${readyLine}\n`);
  }
  await lender[Symbol.asyncDispose]();
  process.exit(0);
}
