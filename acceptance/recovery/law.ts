/**
 * Promise for a run if one of its processes is killed, in each phase. `kill-matrix.test.ts` walks
 * every cell, and docs/operate/recovery.md is generated from it.
 */
import type { Deployment } from '#contract/deployments/shapes.ts';

/** Targets of kills; "machine" is all of them at once, followed by another boot. */
export const processes = ['server', 'agent', 'runner', 'tool', 'database', 'machine'] as const;
export type Killed = (typeof processes)[number];

/** The moments of a run at which something is killed, in their order. */
export const phases = {
  claim: 'the deployment is stored; no agent has claimed it',
  checkout: 'git fetches the code',
  init: 'the tool is initialized',
  plan: 'the tool plans',
  planned: 'the plan has ended; the service has not received its outcome',
  approval: 'a person has to approve the plan; nothing is running',
  apply: 'the start mark is stored; the tool changes resources',
  applied: 'the apply has ended; the service has not received its outcome',
  destroy: 'the start mark is stored; the tool destroys resources',
  task: 'the start mark is stored; a command of a person is running',
} as const;
export type Phase = keyof typeof phases;

/** Consequences of a kill. */
export interface Fate {
  /** Status in which the deployment ends, once a person has done their part. */
  readonly ends: Deployment['status'];
  /** View of the deployment. */
  readonly seen: string;
  readonly run: string;
  readonly state: string;
  readonly lock: string;
  readonly log: string;
  /** Duration. */
  readonly time: string;
}

const held = 'held by the deployment until it ends';
const freed = 'free once the deployment has ended';
const wholeLog = 'complete: what the service has not confirmed is sent again, by its offset';
const asWritten = 'each version that the tool writes is stored';
const unchanged = 'unchanged';
const soon = 'at most 10 s after service and agent are ready again';

const fates = {
  waits: {
    ends: 'SUCCESS',
    seen: 'it waits as before',
    run: 'none yet; it begins as soon as what it waits for is there',
    state: unchanged,
    lock: held,
    log: 'unchanged',
    time: soon,
  },
  continues: {
    ends: 'SUCCESS',
    seen: 'it stays in progress',
    run: 'the runner continues without agent and service; the next agent finds it in the spool folder',
    state: asWritten,
    lock: held,
    log: wholeLog,
    time: soon,
  },
  unnoticed: {
    ends: 'SUCCESS',
    seen: 'it stays in progress',
    run: 'its outcome is in the spool folder and is sent as usual; the next phase gets another runner',
    state: asWritten,
    lock: held,
    log: wholeLog,
    time: 'at once',
  },
  reported: {
    ends: 'SUCCESS',
    seen: 'it stays in progress',
    run: 'the agent finds the outcome in its spool folder, sends it, and what follows begins',
    state: 'the last version is sent before the outcome counts',
    lock: held,
    log: wholeLog,
    time: soon,
  },
  again: {
    ends: 'SUCCESS',
    seen: 'it stays in progress, and its steps begin again',
    run: 'its processes end with the runner; without a start mark, the attempt is replaced by another one under a new fence, at most three times, and what the old one still reports is refused',
    state: unchanged,
    lock: held,
    log: 'complete: each step shows what every attempt has logged, one after the other',
    time: soon,
  },
  failed: {
    ends: 'FAILURE',
    seen: 'it fails, and names the command that was killed',
    run: 'it ends before anything was changed',
    state: unchanged,
    lock: freed,
    log: wholeLog,
    time: 'at once',
  },
  interrupted: {
    ends: 'INTERNAL_FAILURE',
    seen: 'it fails, and lists what was in the hands of the tool as "may exist"',
    run: 'the kernel interrupts the tool once, which ends what it has begun and writes its state; nothing with a start mark is ever started again',
    state: 'the last version that the tool wrote becomes the current one',
    lock: freed,
    log: wholeLog,
    time: 'once the tool has ended; at most the abort time',
  },
  cut: {
    ends: 'FAILURE',
    seen: 'it fails, and names the command; resources that the state lacks are listed, with their ids as `import` blocks if the tool has reported them, otherwise as "may exist"',
    run: 'it ends; nothing with a start mark is ever started again',
    state: 'the last version that the tool wrote becomes the current one',
    lock: freed,
    log: wholeLog,
    time: 'at once',
  },
  lost: {
    ends: 'INTERNAL_FAILURE',
    seen: 'it stays in progress until its agent is back, or until the offline grace, the abort time and one minute have passed; then it fails, with the same lists',
    run: 'nothing with a start mark is ever started again',
    state:
      'the last version in the spool folder becomes the current one; if it arrives after the end, it is kept as rescued',
    lock: 'held until then; a person with the right can free it earlier, with a reason',
    log: 'complete up to the last line that reached the disk',
    time: soon,
  },
} as const satisfies Record<string, Fate>;
export type FateName = keyof typeof fates;

/** Null: there is no such process in that phase. */
const law: Readonly<Record<Phase, Readonly<Record<Killed, FateName | null>>>> = {
  claim: row('waits', 'waits', null, null, 'waits', 'waits'),
  checkout: row('continues', 'continues', 'again', 'failed', 'continues', 'again'),
  init: row('continues', 'continues', 'again', 'failed', 'continues', 'again'),
  plan: row('continues', 'continues', 'again', 'failed', 'continues', 'again'),
  planned: row('reported', 'reported', 'unnoticed', null, 'reported', 'reported'),
  approval: row('waits', 'waits', null, null, 'waits', 'waits'),
  apply: row('continues', 'continues', 'interrupted', 'cut', 'continues', 'lost'),
  applied: row('reported', 'reported', 'unnoticed', null, 'reported', 'reported'),
  destroy: row('continues', 'continues', 'interrupted', 'cut', 'continues', 'lost'),
  task: row('continues', 'continues', 'interrupted', 'cut', 'continues', 'lost'),
};

function row(...of: readonly (FateName | null)[]): Readonly<Record<Killed, FateName | null>> {
  return Object.fromEntries(processes.map((process, at) => [process, of[at] ?? null])) as Record<
    Killed,
    FateName | null
  >;
}

/** Consequences if a process is killed in a phase; null if there is no such process then. */
export function fateOf(phase: Phase, killed: Killed): (Fate & { readonly name: FateName }) | null {
  const name = law[phase][killed];
  if (name === null) return null;
  return { name, ...fates[name] };
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

/** docs/operate/recovery.md. */
export function recoveryPage(): string {
  const names = Object.keys(phases) as Phase[];
  const matrix = names.map((phase) => [
    phase,
    phases[phase],
    ...processes.map((killed) => law[phase][killed] ?? '–'),
  ]);
  const consequences = Object.entries(fates).map(([name, { ends, seen, run, state, lock, log, time }]) => [
    name,
    seen,
    ends,
    run,
    state,
    lock,
    log,
    time,
  ]);
  return [
    '# Recovery',
    '',
    'What happens if a process is killed (`kill -9`), by phase of a run and by process. "Database" is the embedded PostgreSQL; "machine"',
    'is every process at once, followed by another boot.',
    '',
    'Generated from `acceptance/recovery/law.ts`. Tests walk every cell, with Terraform and OpenTofu, and compare status, state, log, audit',
    'trail, the next deployment, and what really happened: each resource leaves a mark outside of the state when it is created. The log is',
    'compared, byte for byte, with what the commands printed, masked, and with what followers of the deployment received.',
    '`.ci/long` walks all cells twenty times.',
    '',
    '`npm run chaos` shows it: deployments run on a scratch installation with two agents while everything is killed at random, for two',
    'minutes. Every run is compared with these rules, the log that a follower saw with the stored one, and afterwards nothing of the runs may',
    'be left: files, processes, connections, locks, rows. `.ci/long` does the same with 2,000 runs.',
    '',
    '## Phases',
    '',
    'A dash: there is no such process in that phase.',
    '',
    ...tableOf(['Phase', 'At this moment', ...processes], matrix),
    '## Consequences',
    '',
    'Requests fail while the service is away, and are answered with 503 while the database is.',
    '',
    ...tableOf(
      ['Consequence', 'Deployment', 'Ends as', 'Run', 'State', 'Environment', 'Log', 'Takes'],
      consequences,
    ),
    '## While the database stores nothing',
    '',
    'Its disk is full, it is read-only, or it is away: requests that change something get 503 with the reason, and',
    'nothing of them is stored. Runs continue; what they report waits in the spool folder of their agent and is sent once the database',
    'stores it. A failure of the database never counts against an outcome (`acceptance/recovery/database.test.ts`).',
    '',
    'The rules that make all this true, each with a test that fails if it is broken, are in `acceptance/recovery/rules.ts`.',
    '',
  ].join('\n');
}
