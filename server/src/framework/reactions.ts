/**
 * Reactions: what one family does in the transaction of another. A family that changes something calls
 * `context.react` with a name of the list below; families above it contribute the functions. Those of one family
 * run one after the other, all in the same transaction: if one of them throws, nothing happened.
 */
import type { Selectable } from 'kysely';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { PolicySettings } from '#contract/project-policies/policy-origins.ts';
import type { DeploymentStatus, DriftStatus } from '#contract/schema/enumerations.ts';
import type { DeploymentRow } from '../rows/deployments/deployment-row.ts';
import type { EnvironmentTable } from '../rows/schema.ts';
import type { Actor } from './access/actor.ts';

/** Archived projects, and the person who archives them. */
export interface ArchivedProjects {
  readonly projectIds: readonly string[];
  readonly by: { readonly actor: Actor; readonly requestId: string };
}

/** A project that is about to move to another place of the tree, with everything below it. */
export interface MovingProject {
  readonly projectId: string;
  /** The projects that will no longer be above it. */
  readonly left: readonly string[];
  readonly by: { readonly actor: Actor; readonly requestId: string };
  /** Checks after the insert: if one throws, nothing has moved. */
  readonly afterwards: (check: () => Promise<void>) => void;
}

/** Action at the end of an environment's lifetime. */
export interface LifetimeNotice {
  readonly environment: Selectable<EnvironmentTable>;
  /**
   * `markedForAutoDestroy`: a notice before the end; `autoDestroyRetried`: the destroy at the end was refused or
   * failed, and is tried again.
   */
  readonly notice: 'markedForAutoDestroy' | 'autoDestroyRetried';
  /** When it is destroyed, or when that is tried again. */
  readonly destroyAt: Date;
  /** Why the destroy is tried again; null for a notice. Without secrets. */
  readonly reason: string | null;
}

/** A scan of environment discovery that people have to look at. */
export interface DiscoveryNotice {
  readonly organizationId: string;
  readonly projectId: string;
  readonly scanId: string;
  /** Without credentials. */
  readonly repository: string;
  /** `failed`: it, or some of its environments; `waitingForUser`: it would remove many environments. */
  readonly notice: 'failed' | 'waitingForUser';
  /** A sentence for people, without secrets. */
  readonly reason: string;
}

/** A policy that is about to be replaced. */
export interface ChangingPolicy {
  readonly projectId: string;
  readonly before: PolicySettings;
  readonly after: PolicySettings;
  readonly by: { readonly actor: Actor; readonly requestId: string };
}

/** Environments that are about to get another tool. */
export interface ChangingTool {
  /** Their rows are locked. */
  readonly environmentIds: readonly string[];
  /** Their deployments that are not over. */
  readonly open: readonly Pick<DeploymentRow, 'id' | 'type' | 'status'>[];
  readonly from: string;
  readonly to: string;
  /** Of the request that changes it, as `/body/type`. */
  readonly field: string;
  readonly by: { readonly actor: Actor; readonly requestId: string };
}

/** Events with reactions, each with the input of the reacting functions. */
export interface ReactionPayloads {
  /** A deployment was created or changed its status. The environment's row is locked; both rows are current. */
  readonly deploymentMoved: {
    readonly deployment: DeploymentRow;
    readonly environment: Selectable<EnvironmentTable>;
    /** The status before; null for a new deployment. */
    readonly from: DeploymentStatus | null;
    /** Current reason to wait; absent if the mover does not know it. */
    readonly waiting?: WaitingFor | null;
    /** Drift of the environment before; absent for a new deployment. */
    readonly driftBefore?: DriftStatus;
  };
  /** Called for an environment's lifetime. Its row is locked. */
  readonly lifetimeNoticed: LifetimeNotice;
  /** Called when a scan ends or stops, in the transaction that stores it. */
  readonly discoveryNoticed: DiscoveryNotice;
  /**
   * Projects are about to be archived. Their rows are not locked yet, so that environments can be locked first,
   * as everywhere.
   */
  readonly projectsArchiving: ArchivedProjects;
  /** Projects were archived, and their rows are locked: nothing new can start in them. */
  readonly projectsArchived: ArchivedProjects;
  /** A family refuses the move of a project that something below it does not allow. The tree is locked. */
  readonly projectMoving: MovingProject;
  /**
   * A family refuses what it cannot follow, or follows. The tree is locked; the policy is neither stored nor locked yet,
   * so that environments can be locked first.
   */
  readonly policyChanging: ChangingPolicy;
  /** A family refuses what the new tool could not continue, or leaves it behind. */
  readonly toolChanging: ChangingTool;
}

export type ReactionName = keyof ReactionPayloads;

/** Contribution of a family. @typeParam Context what its functions receive, with the transaction in it */
export type Reactions<Context> = {
  readonly [Name in ReactionName]?: readonly ((
    context: Context,
    payload: ReactionPayloads[Name],
  ) => void | Promise<void>)[];
};

/** Called as a method of the context that carries the transaction. */
export type React<Context> = <Name extends ReactionName>(
  this: Context,
  name: Name,
  payload: ReactionPayloads[Name],
) => Promise<void>;

/**
 * @param contributed by the families, in their order
 * @returns the method `react` of a context
 */
export function reactWith<Context extends { readonly db: { readonly isTransaction: boolean } }>(
  contributed: readonly Reactions<Context>[],
): React<Context> {
  return async function react(name, payload) {
    if (!this.db.isTransaction) throw new Error(`The reaction ${name} was called outside of a transaction`);
    await Promise.all(
      contributed.map(async (reactions) => {
        for (const reaction of reactions[name] ?? []) await reaction(this, payload);
      }),
    );
  };
}
