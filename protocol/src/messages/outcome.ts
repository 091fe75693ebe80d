/** Outcome of a phase. Plans, outputs and resources have the shapes that the public interface returns. */
import { type Static, Type } from 'typebox';
import { Diagnostic } from '#contract/deployments/diagnostic-shape.ts';
import { mostDiagnostics } from '#contract/deployments/diagnostics.ts';
import {
  CostEstimation,
  OutputValue,
  Plan,
  PlannedUnit,
  PlanSummary,
  Resource,
  UnrecordedResource,
} from '#contract/deployments/plan.ts';
import { oneOf } from '#contract/schema/enumerations.ts';
import { Count, Instant, Text } from '#contract/schema/schema.ts';
import { StateQuery } from './attempt.ts';
import { ApprovedParts, Job } from './job.ts';
import { ReportRequest } from './report.ts';

/** The outcome of an attempt, once and for all: written to the spool before it is sent. */
export const Outcome = Type.Object({
  /**
   * `planned`: the plan phase ended well. `applied`: the apply phase did. `failed`: a command failed.
   * `aborted`, `timed-out`: stopped from outside. `internal`: our own fault, or something that must not
   * happen (a plan with changes that left no newer state).
   */
  result: oneOf(['planned', 'applied', 'failed', 'aborted', 'timed-out', 'internal']),
  finishedAt: Instant,
  failedCommand: Type.Optional(Text),
  error: Type.Optional(
    Type.Object({ message: Text, exitCode: Type.Optional(Type.Integer()), retryCount: Type.Optional(Count) }),
  ),
  commit: Type.Optional(Text),
  toolVersion: Type.Optional(Text),
  /** Of the tool: errors first. */
  diagnostics: Type.Optional(Type.Array(Diagnostic, { maxItems: mostDiagnostics })),
  plan: Type.Optional(Plan),
  planSummary: Type.Optional(PlanSummary),
  /** Of a run of several units: what the plan is about, and what follows it. */
  units: Type.Optional(Type.Array(PlannedUnit)),
  /** Of a plan whose job asks for it; absent where it could not be made. */
  costEstimation: Type.Optional(CostEstimation),
  /** Anything at all to apply (outputs included), and any change of a resource. */
  hasChanges: Type.Optional(Type.Boolean()),
  hasResourceChanges: Type.Optional(Type.Boolean()),
  approvedParts: Type.Optional(ApprovedParts),
  workFolder: Type.Optional(Text),
  providerVersions: Type.Optional(Type.Record(Text, Text)),
  moduleVersions: Type.Optional(Type.Record(Text, Text)),
  /** Values of sensitive outputs are in plain text here; the server seals them. */
  outputs: Type.Optional(Type.Record(Text, OutputValue)),
  resources: Type.Optional(Type.Array(Resource)),
  resourceCount: Type.Optional(Count),
  stateFileHash: Type.Optional(Text),
  /** The state is ours (false: the code's own backend keeps it). */
  isStateOurs: Type.Optional(Type.Boolean()),
  /** The tool has changed resources and written its state, which is the same as before: it needs no new version. */
  isStateSame: Type.Optional(Type.Boolean()),
  stateVersionId: Type.Optional(Text),
  /**
   * No one wrote an outcome: the runner is gone. Without a stored mark the server starts the job again, at
   * most three times.
   */
  isLost: Type.Optional(Type.Boolean()),
  /**
   * When a tool died: resources it reported as made after its last state, and those it had begun and not
   * ended.
   */
  unrecorded: Type.Optional(Type.Array(UnrecordedResource)),
});
export type Outcome = Static<typeof Outcome>;

/** When an attempt came to its agent and left it, by the agent's clock; not part of what is repeated. */
export const AttemptTimes = Type.Object({
  /** Absent where an earlier process of the agent received it. */
  receivedAt: Type.Optional(Instant),
  sentAt: Instant,
});
export type AttemptTimes = Static<typeof AttemptTimes>;

/**
 * Remaining reports of an attempt at its end, in the same message as its outcome: one call instead of four. It is
 * stored before the outcome.
 */
export const FinishRest = Type.Object({
  /** All that follows the reports before. */
  report: Type.Optional(Type.Omit(ReportRequest, ['fence'])),
  /** The last state, which is final. */
  state: Type.Optional(
    Type.Object({ ...Type.Omit(StateQuery, ['fence', 'moment']).properties, base64: Text }),
  ),
  blobs: Type.Optional(
    Type.Array(Type.Object({ name: oneOf(['plan', 'tree', 'policy-input']), sha256: Text, base64: Text })),
  ),
});
export type FinishRest = Static<typeof FinishRest>;

export const FinishRequest = Type.Object({
  fence: Count,
  outcome: Outcome,
  times: Type.Optional(AttemptTimes),
  rest: Type.Optional(FinishRest),
});
export type FinishRequest = Static<typeof FinishRequest>;
/** `next`: the apply phase of the same deployment, already claimed for this agent. */
export const FinishReply = Type.Object({ next: Type.Union([Job, Type.Null()]) });
export type FinishReply = Static<typeof FinishReply>;
