/**
 * The runner: one process per attempt, in its own session. It may be started before there is work, and waits
 * for one line, its order, on standard input; without one it ends. From then on it shares only the spool
 * folder with the agent. It uses the network for tools and providers only, and always reports its end as an
 * outcome.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Outcome } from '#protocol/messages/outcome.ts';
import pRetry from 'p-retry';
import { drivers } from '../drivers/index.ts';
import { useNetworkOrder } from '../network/network-order.ts';
import { identifyProcess } from '../processes/process-identity.ts';
import { type RunnerOrder, spoolPaths } from '../spool/layout.ts';
import { writeJsonDurably } from '../spool/write-file.ts';
import { isFullDisk } from '../processes/full-disk.ts';
import { runPhase } from './run-phase.ts';

/** One per second. */
const maxOutcomeWrites = 3_600;

/**
 * Executes one order: records its identity first, its outcome last.
 * @throws only if the spool folder itself cannot be written
 */
async function executeOrder(order: RunnerOrder): Promise<void> {
  const spool = spoolPaths(order.attemptFolder);
  const identity = identifyProcess(process.pid);
  const end = endOnce((outcome) => writeOutcome(spool.outcome, outcome));
  process.on(
    'uncaughtException',
    (error) => void end(internal(failure(error))).finally(() => process.exit(1)),
  );
  preferredByTheKernel();
  await writeJsonDurably(spool.runner, identity);
  if (isMarked(spool.mark)) return end(internal('it was started before, and its outcome is unknown'));
  try {
    if (order.network !== undefined) useNetworkOrder(order.network);
    await end(await runPhase(order, drivers));
  } catch (error) {
    await end(internal(failure(error as Error)));
  }
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
async function writeOutcome(file: string, outcome: Outcome): Promise<void> {
  await pRetry(() => writeJsonDurably(file, outcome), {
    retries: maxOutcomeWrites,
    minTimeout: 1_000,
    factor: 1,
    shouldRetry: ({ error }) => isFullDisk(error),
  });
}

// Only the first outcome is written.
function endOnce(write: (outcome: Outcome) => Promise<void>): (outcome: Outcome) => Promise<void> {
  let written: Promise<void> | null = null;
  return (outcome) => (written ??= write(outcome));
}

function internal(message: string): Outcome {
  return { result: 'internal', finishedAt: new Date().toISOString(), error: { message } };
}

function failure(error: Error): string {
  return `the runner failed: ${error.message}`;
}

/** The order; null if standard input ends without one. */
async function readOrder(): Promise<RunnerOrder | null> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string;
    const end = text.indexOf('\n');
    if (end >= 0) return JSON.parse(text.slice(0, end)) as RunnerOrder;
  }
  return null;
}

/** Waits for the order on standard input, executes it, and ends the process. */
export async function runRunner(): Promise<never> {
  // Without a listener, SIGUSR1 would start Node's debugger; the other signals are for tools only.
  process.on('SIGUSR1', () => {});
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => {});
  const order = await readOrder();
  process.stdin.destroy();
  if (order !== null) await executeOrder(order);
  process.exit(0);
}
