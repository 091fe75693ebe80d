/** Agents in words: their health, and what confines their runs. */
import type { Reply } from '../../api/queries.ts';
import type { StatusLook } from '../../design/status.tsx';

export type ListedAgent = Reply<'listAgents'>[number];
export type AgentProcess = NonNullable<ListedAgent['processes']>[number];
export type ProcessIsolation = AgentProcess['isolation'];

/** Reads that show an agent. */
export const concernedReads = ['listAgents', 'getAgent'] as const;

/** Without contact for a while, an agent counts as offline; one that was never there has no version. */
export function agentLook({ status, version }: Pick<ListedAgent, 'status' | 'version'>): StatusLook {
  if (status === 'ACTIVE') return { word: 'Online', tone: 'ok', shape: 'check' };
  if (status === 'DEGRADED') return { word: 'Degraded', tone: 'wait', shape: 'diamond' };
  if (version === undefined) return { word: 'Never started', tone: 'idle', shape: 'hollow' };
  return { word: 'Offline', tone: 'fail', shape: 'cross' };
}

/** `2 of 4 slots in use, 3 jobs wait` */
export function loadText({ health }: Pick<ListedAgent, 'health'>): string {
  if (health === undefined) return '–';
  const { running, slots, queued } = health;
  const waits = queued === 0 ? '' : queued === 1 ? ', 1 job waits' : `, ${queued} jobs wait`;
  return `${running} of ${slots} slots in use${waits}`;
}

/** Isolation of runs, as a list of sentences; `problem` explains what is missing. */
export function isolationTexts(isolation: ProcessIsolation): readonly string[] {
  const { hasNamespaces, hasOwnUsers, hasSystemCallFilter, hasControlGroups, network, problem } = isolation;
  return [
    hasNamespaces ? 'A run sees only its own files and processes.' : 'A run sees the files of the machine.',
    hasOwnUsers ? 'Each run has its own user ID.' : 'Runs have the user ID of the agent.',
    hasSystemCallFilter ? 'Dangerous system calls are refused.' : 'System calls are not filtered.',
    hasControlGroups
      ? 'Memory and processor time are limited by control groups.'
      : 'Limits hold per process.',
    network === 'host' ? 'Runs use the network of the machine.' : 'Runs have no network.',
    ...(problem ? [problem] : []),
  ];
}

/** `16384 open files, 2048 processes, 8 GB of memory` */
export function limitsText({ limits }: ProcessIsolation): string {
  const size = (megabytes: number) =>
    megabytes >= 1024 ? `${Math.round(megabytes / 102.4) / 10} GB` : `${megabytes} MB`;
  return [
    `${size(limits.memoryMegabytes)} of memory`,
    `${size(limits.diskMegabytes)} of disk`,
    `${limits.processes} processes`,
    `${limits.openFiles} open files`,
  ].join(', ');
}

/** Command that starts an agent on another machine. */
export function startCommand(url: string, agentKey: string): string {
  return [
    `ENVARIUM_URL='${url}'`,
    `ENVARIUM_AGENT_KEY='${agentKey}'`,
    "ENVARIUM_AGENT_SECRET_FILE='agent.secret'",
    "ENVARIUM_SPOOL_DIR='/var/lib/envarium-agent/spool'",
    "ENVARIUM_WORK_DIR='/var/lib/envarium-agent/work'",
    'npm run agent',
  ].join(' ');
}
