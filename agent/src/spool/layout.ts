/**
 * The spool folder of one attempt: the only thing that agent and runner share, and the record of a run until
 * the server has it. If either is killed, its successor reads this folder and continues.
 *
 * Every file is written under a temporary name, fsynced and renamed, except those that only grow (`events.jsonl`,
 * fsynced before the outcome appears, the raw step logs and `shipped.json`) and those that only matter while the
 * machine runs: `contact`, `control.json`, and before the start mark `slot.json`, `runner.json` and `progress.json`. Mode 0700 for
 * folders and 0600 for files, owned by the agent's uid;
 * tools get open descriptors only. The agent builds a folder under a temporary name and renames it: an
 * attempt's folder has its job and its inputs, or does not exist.
 *
 *   job.json          the job as claimed                                       agent, before the runner starts
 *   inputs/state      the current state version                                agent, before the runner starts
 *   inputs/plan       the approved plan file                                   agent, in every apply phase
 *   inputs/source.tar.gz  uploaded code, instead of a repository           agent, before the runner starts
 *   inputs/tree.tar   the packed tree; absent: the tree is still in the work folder  agent, before the runner starts
 *   slot.json         the slot, and the process that will get the order       agent, before it sends the order
 *   runner.json       who runs it: pid, start time, boot                       runner, first, once it listens for SIGUSR1
 *   contact           seconds of uptime at the last contact with the server    agent, at each answered heartbeat
 *   control.json      requests to the runner                                   agent; SIGUSR1 (sent only once runner.json
 *                                                                              exists) makes the runner read it again
 *   events.jsonl      one RunEvent per line                                      runner, appended; a torn last line does not count
 *   steps/<step>.raw  raw output of a step's commands (`:` written as `_`)     the tools themselves, through an O_APPEND descriptor
 *   scratch/          captured output, and logs that are not a step's yet      the tools, through descriptors; removed by the runner
 *   mark.json         the start mark, and which one it replaces (a retry)      runner, before a changing command
 *   mark.stored       the mark that the server has                             agent
 *   progress.json     where a changing command reports its progress            runner, before it starts one
 *   states/<n>.tfstate  the two newest complete versions of the state             runner
 *                     (one that the server refuses is kept in ../../refused-states; the folder of an attempt whose
 *                     outcome the server does not take, in ../../given-up)
 *   outputs/plan, outputs/tree.tar   for the apply, elsewhere too              runner
 *   outputs/policy-input.json   input of approval policies, masked  runner, where the job asks for it
 *   outcome.json      the Outcome                                              runner, last
 *   shipped.json      how much of each ended step's raw output counts          agent, before it sends the step's end;
 *                                                                              appended, the last whole line counts
 */
import { join } from 'node:path';
import type { NetworkOrder } from '../network/network-order.ts';
import type { ProcessIdentity } from '../processes/proc.ts';
import type { RunLimits } from '../processes/run-limits.ts';
import type { Isolation } from '../processes/sandbox.ts';
import type { ProviderOrder } from '../providers/installation.ts';
import type { CostOrder } from '../runner/costs/cost-order.ts';
import type { ToolchainOrder } from '../toolchain/tool-mirror.ts';

export function attemptFolderName(jobId: string, attempt: number): string {
  return `${jobId}-${attempt}`;
}

/** Paths inside one attempt's folder. */
export function spoolPaths(folder: string) {
  return {
    folder,
    job: join(folder, 'job.json'),
    slot: join(folder, 'slot.json'),
    inputs: join(folder, 'inputs'),
    inputState: join(folder, 'inputs', 'state'),
    inputPlan: join(folder, 'inputs', 'plan'),
    inputTree: join(folder, 'inputs', 'tree.tar'),
    inputSource: join(folder, 'inputs', 'source.tar.gz'),
    runner: join(folder, 'runner.json'),
    contact: join(folder, 'contact'),
    control: join(folder, 'control.json'),
    events: join(folder, 'events.jsonl'),
    steps: join(folder, 'steps'),
    scratch: join(folder, 'scratch'),
    scratchFile: (name: string) => join(folder, 'scratch', name.replaceAll('/', '_')),
    stepLog: (step: string) => join(folder, 'steps', `${step.replaceAll(':', '_')}.raw`),
    mark: join(folder, 'mark.json'),
    markStored: join(folder, 'mark.stored'),
    progress: join(folder, 'progress.json'),
    states: join(folder, 'states'),
    outputs: join(folder, 'outputs'),
    outputPlan: join(folder, 'outputs', 'plan'),
    outputTree: join(folder, 'outputs', 'tree.tar'),
    outputPolicyInput: join(folder, 'outputs', 'policy-input.json'),
    outcome: join(folder, 'outcome.json'),
    shipped: join(folder, 'shipped.json'),
  } as const;
}
export type SpoolPaths = ReturnType<typeof spoolPaths>;

/**
 * The slot of an attempt, and the runner that gets its order: it may be alive before its runner.json exists.
 */
export interface SlotRecord {
  /** Slot of the agent, counted from 0. */
  readonly index: number;
  readonly uid: number | null;
  readonly runner: ProcessIdentity;
}

/** Amount of the raw output of each ended step that belongs to its log, in bytes, by step name. */
export interface ShippedRecord {
  readonly rawBytes: Readonly<Record<string, number>>;
}

/**
 * Preparation message from the agent to a runner before its first order where runs have users and namespaces of
 * their own, as one JSON line: the part of all its orders that it can prepare for.
 */
export interface RunnerPreparation {
  readonly runs: Pick<RunnerOrder, 'isolation' | 'workFolder'>;
}

/** Order from the agent to a runner on its standard input, as one JSON line. */
export interface RunnerOrder {
  readonly attemptFolder: string;
  /** Each environment has its tree below it. */
  readonly workFolder: string;
  /** The uid (and gid) of the slot, or null if the agent does not run as root. */
  readonly slotUid: number | null;
  /** Path of each program on the agent's PATH, by name; empty for a missing one. */
  readonly toolPaths: Readonly<Record<string, string>>;
  /** Isolation of the run's commands in addition to their uid. */
  readonly isolation: Isolation;
  /** Limits of their use of the machine; absent: none. */
  readonly runLimits?: RunLimits;
  /** Source and cache of tools; absent: only those on the PATH are used. */
  readonly toolchain?: ToolchainOrder;
  /** Source of the tools' providers; absent: determined by the tools. */
  readonly providers?: ProviderOrder;
  /** Network access. */
  readonly network?: NetworkOrder;
  /** Cost estimation; absent: without a key of the agent. */
  readonly costs?: CostOrder;
  /** Folder with results of installing commands for other runs; absent: they are not kept. */
  readonly reuseFolder?: string;
}

export interface Control {
  readonly abort: 'gently' | 'now' | null;
}
