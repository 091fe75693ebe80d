/** Isolation of the runs of an agent, in words. */
import type { Agent, AgentIsolation } from '#contract/agents/shapes.ts';

/** Isolation of runs, from the strongest to the weakest. */
export function isolationText({
  hasNamespaces,
  hasOwnUsers,
  hasControlGroups,
  controllers,
  network,
}: AgentIsolation): string {
  const parts = [
    hasNamespaces ? 'namespaces' : hasOwnUsers ? 'user ids' : '',
    hasControlGroups ? `control groups${controllers.length > 0 ? ` (${controllers.join(', ')})` : ''}` : '',
    network === 'none' ? 'no network' : '',
  ].filter((part) => part !== '');
  return parts.join(', ') || 'none';
}

/** Isolation of runs by the processes of an agent: each combination once. */
export function isolationOf({ processes = [] }: Agent): string {
  return [...new Set(processes.map(({ isolation }) => isolationText(isolation)))].join('; ');
}

/** The limits of each run. */
export function limitsText({ limits }: AgentIsolation): string {
  const { processes, memoryMegabytes, diskMegabytes } = limits;
  return `a run may have ${processes} processes, ${memoryMegabytes} MB of memory and ${diskMegabytes} MB on disk`;
}
