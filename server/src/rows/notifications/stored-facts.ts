/**
 * Facts in a notification, from the time of the event. Kept with each
 * delivery: nothing here is a secret, or comes from variables, outputs or logs; of plans only numbers. Absent
 * values are null.
 */
import type { PlanSummary } from '#contract/deployments/plan.ts';
import type {
  DeploymentStatus,
  DeploymentType,
  DriftStatus,
  EnvironmentStatus,
  Trigger,
} from '#contract/schema/enumerations.ts';

export interface NotifiedEnvironment {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly blueprintId: string;
  readonly userId: string;
  readonly status: EnvironmentStatus;
  readonly driftStatus: DriftStatus;
  readonly workspaceName: string;
  readonly latestDeploymentLogId: string | null;
  readonly requiresApproval: boolean;
  readonly isArchived: boolean;
  readonly isLocked: boolean;
  readonly isRemoteBackend: boolean;
  readonly continuousDeployment: boolean;
  readonly pullRequestPlanDeployments: boolean;
  readonly lifespanEndAt: string | null;
  readonly markedForAutoDestroy: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface DeploymentFacts {
  readonly id: string;
  readonly environmentId: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly type: DeploymentType;
  readonly status: DeploymentStatus;
  readonly triggerName: Trigger;
  readonly startedBy: string;
  readonly abortedBy: string | null;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly deploymentDurationMinutes: number | null;
  readonly error: { readonly message: string } | null;
  readonly comment: string | null;
  readonly blueprintId: string;
  readonly blueprintRepository: string;
  readonly blueprintRevision: string;
  readonly commitHash: string | null;
  readonly requiresApproval: boolean;
  readonly resourceCount: number;
  readonly hasChanges: boolean | null;
  /** Number of resources that the plan changes. */
  readonly planSummary: PlanSummary | null;
  readonly driftDetected: boolean | null;
  readonly isScheduledRun: boolean;
  readonly isSkippedApply: boolean | null;
  readonly targets: readonly string[];
}

/** Further facts about the end of a lifetime. */
export interface LifetimeFacts {
  readonly destroyAt: string;
  readonly reason: string | null;
}

/** A scan of environment discovery that people have to look at. */
export interface DiscoveryFacts {
  readonly organizationId: string;
  readonly projectId: string;
  readonly scanId: string;
  readonly repository: string;
  /** A sentence. */
  readonly reason: string;
}

/** Of an environment, or of environment discovery. */
export interface EventFacts {
  readonly environment: NotifiedEnvironment | null;
  readonly deployment: DeploymentFacts | null;
  readonly lifetime: LifetimeFacts | null;
  readonly discovery: DiscoveryFacts | null;
}
