/**
 * The two life cycles as data: how a deployment moves, what each state permits, and the status of an
 * environment as a function of its deployments. The server enforces these tables, every client enables its
 * buttons from them, the docs print them.
 */
import type { DeploymentStatus, DeploymentType, EnvironmentStatus } from '../schema/enumerations.ts';

export interface DeploymentMove {
  /** null: the deployment comes into being. */
  readonly from: DeploymentStatus | null;
  readonly event: string;
  readonly to: DeploymentStatus;
  readonly when: string;
}

export const deploymentMoves = [
  {
    from: null,
    event: 'request',
    to: 'IN_PROGRESS',
    when: 'nothing is ahead of it, even while no agent is free',
  },
  {
    from: null,
    event: 'enqueue',
    to: 'QUEUED',
    when: 'another deployment of the environment is ahead of it',
  },
  {
    from: null,
    event: 'hold',
    to: 'NEVER_DEPLOYED',
    when: 'an environment is created without a deployment: a placeholder',
  },
  { from: 'QUEUED', event: 'start', to: 'IN_PROGRESS', when: 'its turn has come' },
  {
    from: 'QUEUED',
    event: 'cancel',
    to: 'CANCELLED',
    when: 'a person cancels it, or its environment is archived',
  },
  {
    from: 'QUEUED',
    event: 'supersede',
    to: 'SKIPPED',
    when: 'a newer deployment makes it redundant and the project skips those, or its type does not run yet',
  },
  {
    from: 'IN_PROGRESS',
    event: 'ask',
    to: 'WAITING_FOR_USER',
    when: 'a plan is done and a person must approve it; a deployment in levels has several',
  },
  { from: 'IN_PROGRESS', event: 'deny', to: 'CANCELLED', when: 'an approval policy denies the plan' },
  {
    from: 'IN_PROGRESS',
    event: 'succeed',
    to: 'SUCCESS',
    when: 'everything is done, or there was nothing to apply',
  },
  { from: 'IN_PROGRESS', event: 'fail', to: 'FAILURE', when: 'a command ended with an error' },
  {
    from: 'IN_PROGRESS',
    event: 'break',
    to: 'INTERNAL_FAILURE',
    when: 'the service itself failed, or lost contact for good',
  },
  { from: 'IN_PROGRESS', event: 'time out', to: 'TIMEOUT', when: 'it ran longer than the limit' },
  { from: 'IN_PROGRESS', event: 'abort', to: 'ABORTING', when: 'a person aborts it while an agent runs it' },
  {
    from: 'IN_PROGRESS',
    event: 'abort unclaimed',
    to: 'ABORTED',
    when: 'a person aborts it before an agent has claimed it',
  },
  { from: 'WAITING_FOR_USER', event: 'approve', to: 'IN_PROGRESS', when: 'a person approves the plan' },
  { from: 'WAITING_FOR_USER', event: 'cancel', to: 'CANCELLED', when: 'a person refuses the plan' },
  { from: 'WAITING_FOR_USER', event: 'time out', to: 'TIMEOUT', when: 'no one decided in time' },
  {
    from: 'ABORTING',
    event: 'stop',
    to: 'ABORTED',
    when: 'the tool has stopped, or contact was lost for good',
  },
  {
    from: 'ABORTING',
    event: 'succeed',
    to: 'SUCCESS',
    when: 'it had succeeded before the interrupt reached it',
  },
  { from: 'ABORTING', event: 'fail', to: 'FAILURE', when: 'it had failed before the interrupt reached it' },
  {
    from: 'ABORTING',
    event: 'break',
    to: 'INTERNAL_FAILURE',
    when: 'it left resources that its state does not contain',
  },
] as const satisfies readonly DeploymentMove[];

export type DeploymentEvent = (typeof deploymentMoves)[number]['event'];

export const terminalStatuses = [
  'SUCCESS',
  'FAILURE',
  'TIMEOUT',
  'CANCELLED',
  'INTERNAL_FAILURE',
  'ABORTED',
  'SKIPPED',
  'NEVER_DEPLOYED',
] as const satisfies readonly DeploymentStatus[];
/** Those that hold an environment: the next one waits for them. */
export const activeStatuses = [
  'IN_PROGRESS',
  'WAITING_FOR_USER',
  'ABORTING',
] as const satisfies readonly DeploymentStatus[];
/** Everything that is not over. */
export const openStatuses = ['QUEUED', ...activeStatuses] as const satisfies readonly DeploymentStatus[];

/** Types of which at most one is active per environment; the others stand outside of the queue. */
export const serialTypes = [
  'deploy',
  'destroy',
  'task',
  'driftDetection',
  'dryRun',
] as const satisfies readonly DeploymentType[];
/** Types that speak for the environment: its status and its latest deployment follow from them. */
export const speakingTypes = [
  'deploy',
  'destroy',
  'task',
  'dryRun',
] as const satisfies readonly DeploymentType[];

/** Whether a list has a value of a wider union. */
function has<Wide>(list: readonly Wide[], value: Wide): boolean {
  return list.includes(value);
}

export function isTerminal(status: DeploymentStatus): boolean {
  return has<DeploymentStatus>(terminalStatuses, status);
}

export function isActive(status: DeploymentStatus): boolean {
  return has<DeploymentStatus>(activeStatuses, status);
}

export function speaksForEnvironment(type: DeploymentType): boolean {
  return has<DeploymentType>(speakingTypes, type);
}

/** Whether the table has a move; `from` null: whether a deployment may come into being with this status. */
export function canMove(from: DeploymentStatus | null, to: DeploymentStatus): boolean {
  return deploymentMoves.some((move) => move.from === from && move.to === to);
}

/** Status after an event, or undefined if the status does not have the event. */
export function moveBy(from: DeploymentStatus | null, event: DeploymentEvent): DeploymentStatus | undefined {
  return deploymentMoves.find((move) => move.from === from && move.event === event)?.to;
}

/** Actions of people on a deployment. */
export const deploymentActions = ['approve', 'cancel', 'abort'] as const satisfies readonly DeploymentEvent[];
export type DeploymentAction = (typeof deploymentActions)[number];

/** Whether a deployment of this status can be approved, cancelled or aborted. */
export function permits(status: DeploymentStatus, action: DeploymentAction): boolean {
  return moveBy(status, action) !== undefined;
}

/** Deployments that people can start on an environment. `plan`: read-only ones (dry run, PR plan, remote plan). */
export const environmentActions = ['deploy', 'destroy', 'task', 'driftDetection', 'plan'] as const;
export type EnvironmentAction = (typeof environmentActions)[number];

const everything = environmentActions;
const nothingThere: readonly EnvironmentAction[] = ['deploy', 'plan'];

/**
 * The deployments that can be requested in each status of an environment; while another one is active, they
 * are queued. A locked environment accepts none of them, an archived one only `deploy`, which restores it.
 */
export const environmentPermits: Readonly<Record<EnvironmentStatus, readonly EnvironmentAction[]>> = {
  CREATED: nothingThere,
  NEVER_DEPLOYED: nothingThere,
  INACTIVE: nothingThere,
  ACTIVE: everything,
  DRIFTED: everything,
  FAILED: everything,
  TIMEOUT: everything,
  ABORTED: everything,
  WAITING_FOR_USER: everything,
  DEPLOY_IN_PROGRESS: everything,
  TASK_IN_PROGRESS: everything,
  DRY_RUN_IN_PROGRESS: everything,
  ABORTING: everything,
  DESTROY_IN_PROGRESS: everything.filter((action) => action !== 'destroy'),
};

/**
 * @param facts status, lock and archive mark of the environment
 * @param action what is requested
 */
export function environmentAccepts(
  facts: { status: EnvironmentStatus; isLocked: boolean; isArchived: boolean },
  action: EnvironmentAction,
): boolean {
  if (facts.isLocked) return false;
  if (facts.isArchived) return action === 'deploy';
  return environmentPermits[facts.status].includes(action);
}

interface SpeakingDeployment {
  readonly type: DeploymentType;
  readonly status: DeploymentStatus;
}

const restingStatuses: Readonly<Partial<Record<DeploymentStatus, EnvironmentStatus>>> = {
  FAILURE: 'FAILED',
  INTERNAL_FAILURE: 'FAILED',
  TIMEOUT: 'TIMEOUT',
  ABORTED: 'ABORTED',
};

/**
 * Resting status after a deployment: the status of the environment while nothing is in progress, which a
 * cancelled, skipped or harmless deployment leaves as it was. A new environment rests in NEVER_DEPLOYED.
 * @param resting what stood before
 * @param deployment what may have ended
 */
export function restingStatusAfter(
  resting: EnvironmentStatus,
  deployment: SpeakingDeployment,
): EnvironmentStatus {
  if (deployment.type !== 'deploy' && deployment.type !== 'destroy') return resting;
  if (deployment.status === 'SUCCESS') return deployment.type === 'deploy' ? 'ACTIVE' : 'INACTIVE';
  return restingStatuses[deployment.status] ?? resting;
}

const inProgress: Readonly<Partial<Record<DeploymentType, EnvironmentStatus>>> = {
  deploy: 'DEPLOY_IN_PROGRESS',
  destroy: 'DESTROY_IN_PROGRESS',
  task: 'TASK_IN_PROGRESS',
  dryRun: 'DRY_RUN_IN_PROGRESS',
};

export interface EnvironmentFacts {
  /** The deployment that speaks for the environment, as `speakerOf` finds it; null: there is none. */
  readonly latest: SpeakingDeployment | null;
  /** Resting status before it, as `restingStatusAfter` keeps it. */
  readonly resting: EnvironmentStatus;
  readonly isArchived: boolean;
}

/** The status of an environment, from nothing but these facts. */
export function environmentStatusOf({ latest, resting, isArchived }: EnvironmentFacts): EnvironmentStatus {
  if (isArchived) return 'INACTIVE';
  if (!latest || !speaksForEnvironment(latest.type)) return resting;
  if (latest.status === 'WAITING_FOR_USER' || latest.status === 'ABORTING') return latest.status;
  if (latest.status === 'QUEUED' || latest.status === 'IN_PROGRESS')
    return inProgress[latest.type] ?? resting;
  return restingStatusAfter(resting, latest);
}

/**
 * The deployment that speaks for its environment: the active one, else the one whose turn is next, else the
 * newest.
 * @param oldestFirst deployments of the environment; those of other types are passed over
 */
export function speakerOf<T extends SpeakingDeployment>(oldestFirst: readonly T[]): T | null {
  const speakers = oldestFirst.filter(({ type }) => speaksForEnvironment(type));
  return (
    speakers.find(({ status }) => isActive(status)) ??
    speakers.find(({ status }) => status === 'QUEUED') ??
    speakers.at(-1) ??
    null
  );
}
