/**
 * Memory of all processes of a service, idle and after deployments: the proportional set size, which counts
 * shared pages only once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, type Figure, figure } from '../measure/figure.ts';
import { megabytesOf, type ProgramKind, processesOfService } from '../measure/processes.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

const programs = ['server', 'agent', 'runner', 'PostgreSQL', 'npm'] as const satisfies readonly ProgramKind[];
const restSeconds = 5;

/** Current memory of the processes of the service. @param moment begins the figures' names */
async function figuresAt(service: BenchService, moment: string): Promise<Figure[]> {
  const processes = await processesOfService(service);
  const measured = await Promise.all(
    processes.map(async ({ pid, program }) => ({ program, megabytes: await megabytesOf(pid) })),
  );
  const total = (wanted?: ProgramKind) =>
    measured
      .filter(({ program }) => wanted === undefined || program === wanted)
      .reduce((sum, { megabytes }) => sum + megabytes, 0);
  return [
    figure(`${moment}: all processes`, 'MB', [total()]),
    ...programs.map((program) => figure(`${moment}: ${program}`, 'MB', [total(program)])),
  ];
}

export const memoryBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const idleSeconds = isQuick ? 5 : 60;
  const runs = isQuick ? 3 : 50;
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder, { withNpm: true });
  await delay(idleSeconds * 1000);
  const idle = await figuresAt(service, 'idle');
  for (let run = 0; run < runs; run++)
    await deployAndWatch(service, await createEnvironment(service, repository, false));
  await delay(restSeconds * 1000);
  return {
    figures: [...idle, ...(await figuresAt(service, `after ${runs} runs`))],
    settings: { idleSecondsAfterReady: idleSeconds, runs, restSeconds, command: 'npm start' },
  };
};
