/**
 * What the conformance suite knows of a tool: recorded output, and what a driver must read in it. Every
 * driver folder exports one as `material` from `__fixtures__/material.ts`.
 */
import type { PlanSummary } from '#contract/deployments/plan.ts';

export interface RecordedPlan {
  /** Captured files by their `captureTo` names. */
  readonly files: Readonly<Record<string, string>>;
  readonly summary: PlanSummary;
  readonly changes: Readonly<Record<string, string>>;
  readonly hasChanges: boolean;
}

export interface Material {
  /** Code that the tool accepts. */
  readonly tree: Readonly<Record<string, string>>;
  /** By what happened, as the name of a test completes "reads …". */
  readonly plans: Readonly<Record<string, RecordedPlan>>;
  /** Only tools with a state. */
  readonly state?: {
    readonly file: string;
    readonly resourceCount: number;
    readonly outputs: Readonly<Record<string, boolean>>;
  };
}
