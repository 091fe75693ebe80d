/**
 * Divides the time of a deployment into phases. Pure. Times of the service and of agents come from different
 * clocks, so only times of the same clock are subtracted: inside an attempt, those of its agent, and around it,
 * those of the service. What an attempt took by the service's clock and not by the agent's is added to its end:
 * the calls between the two.
 */
import type { DeploymentTimeline, TimelinePhase, TimelinePhaseName } from '#contract/deployments/timeline.ts';

/** The newest attempt of a job. */
export interface TimedAttempt {
  readonly phase: 'plan' | 'apply';
  /** By the service's clock; `firstClaimedAt` is that of the job's first attempt. */
  readonly createdAt: Date;
  readonly firstClaimedAt: Date;
  readonly claimedAt: Date;
  readonly endedAt: Date | null;
  /** By the agent's clock. */
  readonly receivedAt: Date | null;
  readonly sentAt: Date | null;
}

/** A step that has ended, by its agent's clock. */
export interface TimedStep {
  readonly name: string;
  readonly phase: TimelinePhaseName;
  readonly run: 'plan' | 'apply';
  readonly startedAt: Date;
  readonly completedAt: Date;
}

/** A command, as its runner reported it at its end. */
export interface TimedCommand {
  readonly step: string;
  readonly label: string;
  readonly program: string;
  readonly at: string;
  readonly milliseconds: number;
  readonly cpuMilliseconds?: number;
  readonly isReading?: boolean;
}

export interface TimelineFacts {
  readonly id: string;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly isApprovalNeeded: boolean;
  /** In the order of their fences. */
  readonly attempts: readonly TimedAttempt[];
  readonly steps: readonly TimedStep[];
  readonly commands: readonly TimedCommand[];
}

/** Milliseconds since the epoch, of one clock. */
interface Period {
  readonly from: number;
  readonly to: number;
}

const nothing = {
  milliseconds: 0,
  toolMilliseconds: 0,
  gitMilliseconds: 0,
  waitingMilliseconds: 0,
  ownMilliseconds: 0,
};

const between = (from: Date | number, to: Date | number) => Math.max(0, Number(to) - Number(from));

function own(phase: TimelinePhaseName, milliseconds: number): TimelinePhase {
  return { phase, ...nothing, milliseconds, ownMilliseconds: milliseconds };
}

function waiting(phase: TimelinePhaseName, milliseconds: number): TimelinePhase {
  return { phase, ...nothing, milliseconds, waitingMilliseconds: milliseconds };
}

function periodOf({ at, milliseconds }: TimedCommand): Period {
  const to = Date.parse(at);
  return { from: to - milliseconds, to };
}

/** The time inside a period in which at least one of others ran. */
function covered(within: Period, others: readonly Period[]): number {
  let reached = within.from;
  let total = 0;
  for (const { from, to } of others.toSorted((left, right) => left.from - right.from)) {
    const begin = Math.max(reached, from);
    const end = Math.min(within.to, to);
    total += Math.max(0, end - begin);
    reached = Math.max(reached, end);
  }
  return total;
}

/** A phase in which commands may have run. */
function worked(phase: TimelinePhaseName, period: Period, commands: readonly TimedCommand[]): TimelinePhase {
  const milliseconds = between(period.from, period.to);
  const tools = commands.filter(({ program }) => program !== 'git').map(periodOf);
  const toolMilliseconds = covered(period, tools);
  const ran = covered(period, commands.map(periodOf));
  return {
    ...nothing,
    phase,
    milliseconds,
    toolMilliseconds,
    gitMilliseconds: ran - toolMilliseconds,
    ownMilliseconds: milliseconds - ran,
  };
}

/** A step, from the end of what was before it; what only shows a plan is a phase of its own. */
function stepPhases(step: TimedStep, from: number, commands: readonly TimedCommand[]): TimelinePhase[] {
  const to = Math.max(from, step.completedAt.getTime());
  const inside = commands.filter((command) => command.step === step.name);
  const making = inside.filter(({ isReading }) => isReading !== true);
  const last = making.at(-1);
  const one = (phase: TimelinePhaseName, period: Period) => ({
    ...worked(phase, period, commands),
    step: step.name,
  });
  if (step.phase !== 'plan' || last === undefined || making.length === inside.length)
    return [one(step.phase, { from, to })];
  const made = Math.min(to, Math.max(from, periodOf(last).to));
  return [one('plan', { from, to: made }), one('reading', { from: made, to })];
}

function runPhases(attempt: TimedAttempt, { steps, commands }: TimelineFacts): TimelinePhase[] {
  const mine = steps
    .filter(({ run }) => run === attempt.phase)
    .toSorted((left, right) => left.completedAt.getTime() - right.completedAt.getTime());
  const begin = attempt.receivedAt ?? mine[0]?.startedAt ?? attempt.sentAt;
  if (begin === null) return attempt.endedAt ? [own('end', between(attempt.claimedAt, attempt.endedAt))] : [];
  let reached = mine[0] === undefined ? begin.getTime() : Math.max(Number(begin), Number(mine[0].startedAt));
  const phases = [own('start', between(begin, reached))];
  for (const step of mine) {
    phases.push(...stepPhases(step, reached, commands));
    reached = Math.max(reached, step.completedAt.getTime());
  }
  if (attempt.endedAt !== null) {
    const seen = between(begin, attempt.sentAt ?? reached);
    const calls = Math.max(0, between(attempt.claimedAt, attempt.endedAt) - seen);
    phases.push(own('end', between(reached, attempt.sentAt ?? reached) + calls));
  }
  return phases;
}

function attemptPhases(attempt: TimedAttempt, facts: TimelineFacts): TimelinePhase[] {
  const { createdAt, firstClaimedAt, claimedAt } = attempt;
  return [
    own('claim', between(createdAt, firstClaimedAt)),
    own('lost', between(firstClaimedAt, claimedAt)),
    ...runPhases(attempt, facts),
  ].map((phase) => ({ ...phase, run: attempt.phase }));
}

/** From the end of the plan to the job of the apply. */
function approvalPhase(
  { attempts, isApprovalNeeded, finishedAt }: TimelineFacts,
  apply: TimedAttempt | undefined,
): TimelinePhase[] {
  const ended = attempts.find(({ phase }) => phase === 'plan')?.endedAt ?? null;
  const decided = apply?.createdAt ?? finishedAt;
  if (!isApprovalNeeded || ended === null || decided === null) return [];
  return [waiting('approval', between(ended, decided))];
}

function allPhases(facts: TimelineFacts): TimelinePhase[] {
  const { queuedAt, startedAt, attempts, finishedAt } = facts;
  const [first] = attempts;
  const started = startedAt ?? finishedAt ?? queuedAt;
  const plan = attempts.filter(({ phase }) => phase === 'plan');
  const apply = attempts.filter(({ phase }) => phase === 'apply');
  return [
    waiting('queue', between(queuedAt, started)),
    own('request', first === undefined ? 0 : between(started, first.createdAt)),
    ...plan.flatMap((attempt) => attemptPhases(attempt, facts)),
    ...approvalPhase(facts, apply[0]),
    ...apply.flatMap((attempt) => attemptPhases(attempt, facts)),
  ].filter(({ phase, milliseconds }) => milliseconds > 0 || !['queue', 'lost'].includes(phase));
}

const sums = [
  'milliseconds',
  'toolMilliseconds',
  'gitMilliseconds',
  'waitingMilliseconds',
  'ownMilliseconds',
] as const;

/** The timeline of a deployment, or of as much of it as has happened. */
export function composeTimeline(facts: TimelineFacts): DeploymentTimeline {
  const phases = allPhases(facts);
  const total = { ...nothing };
  for (const phase of phases) for (const name of sums) total[name] += phase[name];
  return {
    deploymentLogId: facts.id,
    ...total,
    phases,
    commands: facts.commands.map(({ step, label, program, milliseconds, cpuMilliseconds }) => ({
      step,
      label,
      program,
      milliseconds,
      ...(cpuMilliseconds === undefined ? {} : { cpuMilliseconds }),
    })),
  };
}
