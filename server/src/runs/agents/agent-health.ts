/** The state of an agent, with the reasons as sentences. Pure. */
import { compare, valid } from 'semver';
import type { AgentHealth, AgentIsolation, AgentStatus } from '#contract/agents/shapes.ts';
import type { StoredCondition } from '#protocol/messages/agent.ts';
import type { WaitingJobs } from '../../rows/dispatch/load-store.ts';

/** A job that waits longer, while the agent runs nothing, is a sign that the agent cannot work. */
const degradedAfterMinutes = 5;
export const degradedAfterMilliseconds = degradedAfterMinutes * 60_000;
/** Times of runs are corrected, but not those of certificates and of signed requests to clouds. */
const toleratedClockSeconds = 40;
/** Runs are interrupted at the reserve: this many reserves are a warning before. */
const scarceReserves = 4;
const mostProblems = 20;
const hourMilliseconds = 3_600_000;
const secretWarningDays = 14;
/** A process in contact exchanges its secret at least as often. */
const secretUseHours = 2;

/** A process in contact. */
export interface ProcessFacts {
  readonly hostname: string;
  readonly version: string;
  readonly slots: number;
  readonly tools: readonly string[];
  readonly work_folder: string;
  readonly isolation: AgentIsolation;
  readonly condition: StoredCondition | null;
}

/** A secret that has not ended. */
export interface SecretFacts {
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

export interface HealthFacts {
  readonly now: Date;
  /** Of any process; null: never started. */
  readonly contactAt: Date | null;
  readonly processes: readonly ProcessFacts[];
  /** The waiting jobs that could be handed to the agent. */
  readonly waiting: readonly WaitingJobs[];
  readonly running: number;
  /** Its secrets that have not ended. */
  readonly secrets: readonly SecretFacts[];
  readonly serviceVersion: string;
  /** Whether names and paths of machines may be shown. */
  readonly showsMachines: boolean;
}

/** Whether a process can run jobs. */
export function canRun(
  { tool, work_folder: folder }: Pick<WaitingJobs, 'tool' | 'work_folder'>,
  process: ProcessFacts,
) {
  return process.tools.includes(tool) && (folder === null || folder === process.work_folder);
}

/** Of the secrets in use, or of all where none is in use: one that was replaced may end. */
function secretProblems({ now, secrets }: HealthFacts): string[] {
  const usedAfter = now.getTime() - secretUseHours * hourMilliseconds;
  const inUse = secrets.filter(({ last_used_at: at }) => at !== null && at.getTime() > usedAfter);
  const ends = (inUse.length > 0 ? inUse : secrets).flatMap(({ expires_at: end }) => end ?? []);
  const soon = now.getTime() + secretWarningDays * 24 * hourMilliseconds;
  return ends
    .filter((end) => end.getTime() < soon)
    .map(
      (end) =>
        `Its secret ends at ${end.toISOString()}: create another one, start the agent with that, and delete the old one.`,
    );
}

function contactProblems({ contactAt, processes, secrets }: HealthFacts): string[] {
  if (processes.length > 0) return [];
  if (contactAt !== null && secrets.length === 0)
    return ['It has no valid secret: create one, and start it with that.'];
  if (contactAt === null) return ['It was never started: create a secret for it, and start it with that.'];
  return [`It has not been heard from since ${contactAt.toISOString()}: start it, or check its log.`];
}

function waitingProblems(facts: HealthFacts, isDegraded: boolean): string[] {
  const { processes, waiting } = facts;
  if (processes.length === 0) return [];
  const stuck = waiting.filter((jobs) => !processes.some((each) => canRun(jobs, each)));
  const abilities = stuck.map(
    ({ tool, work_folder: folder }) => `${tool}${folder === null ? '' : ` in ${folder}`}`,
  );
  const missing = [...new Set(abilities)].map(
    (ability) => `Jobs wait for it that it cannot run: install what ${ability} needs on its machine.`,
  );
  if (!isDegraded || missing.length > 0) return missing;
  return [
    `A job has waited for more than ${degradedAfterMinutes} minutes, and the agent runs nothing: check its log.`,
  ];
}

function folderProblems({ condition }: ProcessFacts, showsMachines: boolean): string[] {
  const scarce = (condition?.folders ?? []).filter(
    ({ freeMegabytes: free, reserveMegabytes: reserve }) => free < reserve * scarceReserves,
  );
  return scarce.map(
    ({ what, path, freeMegabytes, reserveMegabytes }) =>
      `The disk of the ${what} folder${showsMachines ? ` ${path}` : ''} is nearly full: ${freeMegabytes} MB are left, and runs are interrupted below ${reserveMegabytes} MB. Free some space.`,
  );
}

function clockProblems({ condition }: ProcessFacts): string[] {
  const ahead = condition?.clockAheadSeconds ?? 0;
  if (Math.abs(ahead) <= toleratedClockSeconds) return [];
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return [
    `Its clock is ${Math.abs(ahead)} seconds ${direction} that of the service: set it, or let it be synchronized.`,
  ];
}

function readinessProblems({ condition }: ProcessFacts): string[] {
  const { isDraining, memoryShortage: shortage } = condition ?? {};
  if (isDraining) return ['It takes no further jobs, and ends after those that it runs.'];
  if (!shortage) return [];
  return [
    `It begins no further jobs: ${shortage.availableMegabytes} MB of memory are available, and it needs ${shortage.neededMegabytes} MB. Wait for its runs, or give it memory.`,
  ];
}

function programProblems({ condition }: ProcessFacts): string[] {
  const missing = condition?.missingPrograms ?? [];
  if (missing.length === 0) return [];
  return [
    `It has no ${missing.join(', ')} and cannot download ${missing.length === 1 ? 'it' : 'them'}: install what its runs need, or set a mirror.`,
  ];
}

function versionProblems({ version }: ProcessFacts, serviceVersion: string): string[] {
  const isOlder = valid(version) && valid(serviceVersion) && compare(version, serviceVersion) < 0;
  return isOlder
    ? [`Its version ${version} is older than ${serviceVersion}, that of the service: update it.`]
    : [];
}

function isolationProblems(
  { isolation: { hasNamespaces, problem } }: ProcessFacts,
  showsMachines: boolean,
): string[] {
  if (hasNamespaces) return [];
  const reason = showsMachines && problem ? ` (${problem})` : '';
  return [
    `Its runs have no namespaces of their own${reason}: install bubblewrap, and allow user namespaces.`,
  ];
}

function processProblems(facts: HealthFacts): string[] {
  const { processes, serviceVersion, showsMachines } = facts;
  return processes.flatMap((process) => {
    const problems = [
      ...readinessProblems(process),
      ...folderProblems(process, showsMachines),
      ...clockProblems(process),
      ...programProblems(process),
      ...versionProblems(process, serviceVersion),
      ...isolationProblems(process, showsMachines),
    ];
    return showsMachines && processes.length > 1
      ? problems.map((text) => `${process.hostname}: ${text}`)
      : problems;
  });
}

export function healthOf(facts: HealthFacts): { readonly status: AgentStatus; readonly health: AgentHealth } {
  const { now, contactAt, processes, waiting, running } = facts;
  const oldest = waiting.length === 0 ? null : Math.min(...waiting.map(({ oldest_at: at }) => at.getTime()));
  const waitsLong = oldest !== null && now.getTime() - oldest > degradedAfterMilliseconds;
  const isDegraded = processes.length > 0 && running === 0 && waitsLong;
  const problems = [
    ...contactProblems(facts),
    ...secretProblems(facts),
    ...waitingProblems(facts, isDegraded),
    ...processProblems(facts),
  ];
  return {
    status: processes.length === 0 ? 'INACTIVE' : isDegraded ? 'DEGRADED' : 'ACTIVE',
    health: {
      ...(contactAt ? { lastContactAt: contactAt.toISOString() } : {}),
      ...(oldest === null ? {} : { oldestQueuedAt: new Date(oldest).toISOString() }),
      queued: waiting.reduce((sum, { count }) => sum + count, 0),
      running,
      slots: processes.reduce((sum, { slots }) => sum + slots, 0),
      problems: [...new Set(problems)].slice(0, mostProblems),
    },
  };
}
