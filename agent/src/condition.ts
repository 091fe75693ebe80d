/** Facts about this machine for the service: people should know of them before a run fails of them. */
import type { AgentCondition } from '#protocol/messages/agent.ts';
import type { MemoryShortage } from './capacity.ts';
import { freeMegabytes } from './processes/full-disk.ts';

const megabyte = 1024 ** 2;
const mostPrograms = 50;

export interface MachineOptions {
  readonly spool: { readonly folder: string };
  readonly workFolder: string;
  readonly runOrder: { readonly runLimits?: { readonly reserveBytes: number } | undefined };
  /** Programs that are neither installed nor can be downloaded. */
  readonly missingPrograms: readonly string[];
}

/** Whether an agent with free slots takes further jobs. */
export interface Readiness {
  readonly isDraining: boolean;
  readonly memoryShortage: MemoryShortage | null;
}

/** @returns what the next heartbeat says */
export function conditionOf(
  { spool, workFolder, runOrder, missingPrograms }: MachineOptions,
  { isDraining, memoryShortage }: Readiness,
): AgentCondition {
  const reserveMegabytes = Math.floor((runOrder.runLimits?.reserveBytes ?? 0) / megabyte);
  const folders = [
    { what: 'spool', path: spool.folder },
    { what: 'work', path: workFolder },
  ] as const;
  return {
    time: new Date().toISOString(),
    folders: folders.flatMap((folder) => {
      const free = freeMegabytes(folder.path);
      return free === null ? [] : [{ ...folder, freeMegabytes: free, reserveMegabytes }];
    }),
    missingPrograms: missingPrograms.slice(0, mostPrograms),
    ...(isDraining ? { isDraining } : {}),
    ...(memoryShortage === null ? {} : { memoryShortage }),
  };
}
