/**
 * Memory of all processes of an idle service: the proportional set size, which counts shared pages only
 * once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, type BenchResult, figure } from './figure.ts';
import { megabytesOf, type Program, processesOfService } from './processes.ts';
import { scratchFolder, type Service, startService } from './service.ts';

const programs = ['server', 'agent', 'runner', 'PostgreSQL'] as const satisfies readonly Program[];

/** What each process of the service occupies now. */
async function measure(service: Service) {
  const processes = await processesOfService(service);
  return await Promise.all(
    processes.map(async ({ pid, program }) => ({ program, megabytes: await megabytesOf(pid) })),
  );
}

export const memoryBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const idleSeconds = isQuick ? 5 : 60;
  await using folder = await scratchFolder();
  await using service = await startService(folder);
  await delay(idleSeconds * 1000);
  const measured = await measure(service);
  const total = (wanted?: Program) =>
    measured
      .filter(({ program }) => wanted === undefined || program === wanted)
      .reduce((sum, { megabytes }) => sum + megabytes, 0);
  return {
    figures: [
      figure('all processes', 'MB', [total()]),
      ...programs.map((program) => figure(program, 'MB', [total(program)])),
    ],
    settings: {
      idleSecondsAfterReady: idleSeconds,
      ...Object.fromEntries(
        programs.map((name) => [
          `processes, ${name}`,
          measured.filter(({ program }) => program === name).length,
        ]),
      ),
    },
  };
};
