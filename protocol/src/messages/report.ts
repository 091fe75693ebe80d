/** Reports of an agent while a phase runs: events and bytes of logs. */
import { type Static, Type } from 'typebox';
import { GitMetadata } from '#contract/deployments/plan.ts';
import { ResourceEvent } from '#contract/feeds/shapes.ts';
import { oneOf, stepStatuses } from '#contract/schema/enumerations.ts';
import { Count, Instant, Text } from '#contract/schema/schema.ts';

/** One line of an attempt's `events.jsonl`. Masked before it leaves the agent. */
export const RunEvent = Type.Union([
  Type.Object({
    kind: Type.Literal('step'),
    at: Instant,
    step: Text,
    status: oneOf(stepStatuses),
    /** Number of repetitions of the step so far. */
    retryCount: Type.Optional(Count),
  }),
  Type.Object({ kind: Type.Literal('resource'), ...ResourceEvent.properties }),
  Type.Object({ kind: Type.Literal('git'), at: Instant, ...GitMetadata.properties }),
  /**
   * A finished process: whose time is whose, for the bench and the timeline. `program`: `git`, `terraform` …
   */
  Type.Object({
    kind: Type.Literal('process'),
    at: Instant,
    step: Text,
    program: Text,
    label: Text,
    exitCode: Type.Union([Type.Integer(), Type.Null()]),
    signal: Type.Union([Text, Type.Null()]),
    milliseconds: Count,
    /** Of the process, its sandbox and all their children. */
    cpuMilliseconds: Type.Optional(Count),
    /** It only shows what another command has made. */
    isReading: Type.Optional(Type.Boolean()),
  }),
  Type.Object({ kind: Type.Literal('warning'), at: Instant, step: Text, text: Text }),
]);
export type RunEvent = Static<typeof RunEvent>;

export const ReportRequest = Type.Object({
  fence: Count,
  /** Index of the first event of `events` in the attempt's event file. */
  eventsFrom: Count,
  events: Type.Array(RunEvent),
  /**
   * Masked bytes of step logs, stored before the events are applied; `offset` counts bytes of that step in
   * this attempt.
   */
  logs: Type.Array(Type.Object({ step: Text, offset: Count, base64: Text })),
});
export type ReportRequest = Static<typeof ReportRequest>;
export const ReportReply = Type.Object({
  /** Positions that the server expects next. The agent continues from there, even backwards. */
  events: Count,
  logs: Type.Record(Text, Count),
  abort: Type.Union([oneOf(['gently', 'now']), Type.Null()]),
});
export type ReportReply = Static<typeof ReportReply>;
