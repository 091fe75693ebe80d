/**
 * The conformance suite's material for a tool: recorded output and its expected readings. Every driver folder
 * exports one as `material` from `__fixtures__/material.ts`.
 */
import type { PlanSummary } from '#contract/deployments/plan.ts';
import type { Job } from '#protocol/messages/job.ts';

export interface RecordedPlan {
  /** What the job of the plan has in addition. */
  readonly job?: Partial<Job>;
  /** Captured files by their `captureTo` names. */
  readonly files: Readonly<Record<string, string>>;
  readonly summary: PlanSummary;
  readonly changes: Readonly<Record<string, string>>;
  readonly hasChanges: boolean;
}

export interface Material {
  /** Code that the tool accepts. */
  readonly tree: Readonly<Record<string, string>>;
  /** What jobs have in addition. */
  readonly job?: Partial<Job>;
  /** What the driver's inspection has captured, as recorded files by name. */
  readonly inspected?: Readonly<Record<string, string>>;
  /** Variables without which no run of the tool is possible. */
  readonly environment?: Readonly<Record<string, string>>;
  /** By scenario, as in the test name "reads …". */
  readonly plans: Readonly<Record<string, RecordedPlan>>;
  /** Only tools with a state. */
  readonly state?: {
    readonly file: string;
    readonly resourceCount: number;
    readonly outputs: Readonly<Record<string, boolean>>;
  };
}
