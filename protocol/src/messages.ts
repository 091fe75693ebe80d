/**
 * What a server and its agents say to each other: schemas of every message, apart from the public interface
 * and with a version of their own.
 *
 * Order of calls of an agent: `register` once at start (answers the epoch; an older epoch gets 409
 * `epoch_replaced` on every call and the agent exits, leaving its runners), then `claim` in a loop, `confirm`
 * after the attempt's spool folder is on disk, `report` as often as there is something to say, `mark` before
 * a command that changes the world, `putState` and `putBlob` before the `finish` that names them, `finish`
 * once the outcome is on disk, `heartbeat` all the while, `goodbye` at the end.
 *
 * Every call may be sent twice: `report` is addressed by positions, `mark`, `putState`, `putBlob` and
 * `finish` by content. Calls about an attempt carry its fence; one that is no longer the job's is refused
 * with 409 `fence_outdated`, except `putState`: a state is never refused.
 */
import { type Static, Type } from 'typebox';
import { deploymentTypes, oneOf, stepStatuses, templateTypes } from '#contract/schema/enumerations.ts';

/** `major` must be equal on both sides; an agent one `minor` older works. */
export const protocolVersion = { major: 1, minor: 1 } as const;

const Text = Type.String();
const Instant = Type.String({ description: 'ISO 8601 with milliseconds and Z' });
const Count = Type.Integer({ minimum: 0 });
const Nothing = Type.Object({});

/** An attempt that an agent holds a spool folder for. */
export const HeldAttempt = Type.Object({ jobId: Text, attempt: Count, fence: Count });
export type HeldAttempt = Static<typeof HeldAttempt>;

export const RegisterRequest = Type.Object({
  protocol: Type.Object({ major: Count, minor: Count }),
  agentVersion: Text,
  /** Identifies the spool folder: one agent at a time, told apart from its predecessors by the epoch. */
  spoolId: Text,
  bootId: Text,
  hostname: Text,
  /**
   * Same host and same pid namespace as the server: only then may "that process is gone" free an environment.
   */
  processId: Count,
  tools: Type.Array(Text, { description: 'Template types whose tool this agent can run or fetch' }),
  /** The folder below which every phase of a deployment sees its tree. */
  workFolder: Text,
  slots: Count,
  held: Type.Array(HeldAttempt),
});
export type RegisterRequest = Static<typeof RegisterRequest>;

export const AgentSettings = Type.Object({
  heartbeatSeconds: Count,
  /** How long a runner continues without contact before it interrupts its tool. */
  offlineGraceSeconds: Count,
  /** From the interrupt of a tool to its kill. */
  abortSeconds: Count,
});
export type AgentSettings = Static<typeof AgentSettings>;

export const RegisterReply = Type.Object({
  agentId: Text,
  epoch: Count,
  settings: AgentSettings,
  /**
   * Held attempts that the server no longer wants: their folders may go once their tools are gone and their
   * states are sent.
   */
  unwanted: Type.Array(HeldAttempt),
});
export type RegisterReply = Static<typeof RegisterReply>;

export const HeartbeatRequest = Type.Object({
  epoch: Count,
  held: Type.Array(HeldAttempt),
  freeSlots: Count,
});
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;
export const HeartbeatReply = Type.Object({
  settings: AgentSettings,
  /** What a person or a limit asked to stop. `gently`: one interrupt, the abort time, then a kill. */
  abort: Type.Array(Type.Object({ jobId: Text, attempt: Count, how: oneOf(['gently', 'now']) })),
  unwanted: Type.Array(HeldAttempt),
});
export type HeartbeatReply = Static<typeof HeartbeatReply>;

export const JobVariable = Type.Object({
  name: Text,
  value: Text,
  format: Type.Optional(oneOf(['HCL', 'JSON'])),
  isSensitive: Type.Boolean(),
});
export type JobVariable = Static<typeof JobVariable>;

/**
 * The parts whose hash a person approves; compared part by part before an apply, so that a difference can be
 * named.
 */
export const ApprovedParts = Type.Object({
  planFile: Type.Optional(
    Type.String({ description: 'SHA-256 of the plan file; absent for a tool that saves no plan' }),
  ),
  commit: Text,
  toolVersion: Text,
  lockFile: Type.String({ description: 'SHA-256 of the lock file; of nothing where there is none' }),
  variables: Type.String({ description: 'SHA-256 of the resolved variables' }),
});
export type ApprovedParts = Static<typeof ApprovedParts>;

export const Job = Type.Object({
  jobId: Text,
  attempt: Count,
  fence: Count,
  phase: oneOf(['plan', 'apply']),
  deploymentId: Text,
  environmentId: Text,
  organizationId: Text,
  projectId: Text,
  type: oneOf(deploymentTypes),
  tool: oneOf(templateTypes),
  toolVersion: Type.Optional(Text),
  workspaceName: Text,
  /**
   * The work folder that the plan phase used; an agent that cannot offer it does not take the apply. Absent
   * in a plan phase.
   */
  workFolder: Type.Optional(Text),
  source: Type.Object({
    repository: Text,
    /** Branch, tag or commit; absent: the default branch. */
    revision: Type.Optional(Text),
    /** Folder of the configuration inside the repository; absent: its root. */
    path: Type.Optional(Text),
    credentials: Type.Optional(Type.Object({ username: Text, password: Text })),
    /**
     * Credentials for submodules and modules of other hosts (`name` or `name:port`); each goes to its own
     * host only.
     */
    hostCredentials: Type.Optional(Type.Array(Type.Object({ host: Text, username: Text, password: Text }))),
    /**
     * Private keys in the form that ssh reads, and lines of a `known_hosts` file: a host that none of them
     * names is refused.
     */
    ssh: Type.Optional(Type.Object({ keys: Type.Array(Text), knownHosts: Text })),
    /** Hosts for which plain http is allowed. */
    httpHosts: Type.Array(Text),
    /** Folders from which local repositories may be read. */
    localPaths: Type.Array(Text),
    /** Code that a person uploaded, fetched as the blob `source`; nothing is cloned then. */
    archive: Type.Optional(Type.Object({ sha256: Text, bytes: Count })),
  }),
  /** Shell commands of a task. */
  taskPayload: Type.Optional(Text),
  /**
   * How often a failed apply may be repeated. `errorRegex`: only where the output matches. `isReviewed`: a
   * person has approved the plan.
   */
  retry: Type.Optional(
    Type.Object({ times: Count, errorRegex: Type.Optional(Text), isReviewed: Type.Boolean() }),
  ),
  /** Tokens of private registries of modules and providers; each is sent to its host only. */
  registryCredentials: Type.Optional(Type.Array(Type.Object({ host: Text, token: Text }))),
  variables: Type.Object({ environment: Type.Array(JobVariable), terraform: Type.Array(JobVariable) }),
  /** `ENVARIUM_…` names and values that every tool, hook and task of the run sees. */
  systemVariables: Type.Record(Text, Text),
  targets: Type.Array(Text),
  skipStateRefresh: Type.Boolean(),
  state: Type.Object({
    /** Keep the state with us whatever backend the code names. */
    isForced: Type.Boolean(),
    current: Type.Optional(Type.Object({ stateVersionId: Text, serial: Count, lineage: Text, sha256: Text })),
  }),
  /** Values that are masked in everything that leaves the agent. */
  secrets: Type.Array(Text),
  limits: Type.Object({
    runSeconds: Count,
    abortSeconds: Count,
    offlineGraceSeconds: Count,
    stepLogBytes: Count,
    travelBytes: Count,
  }),
  /** In an apply phase: what was approved, and where it is. */
  approved: Type.Optional(
    Type.Object({
      hash: Text,
      parts: ApprovedParts,
      /** The attempt whose spool and tree may still be at hand; absent after a person was waited for. */
      continues: Type.Optional(HeldAttempt),
    }),
  ),
});
export type Job = Static<typeof Job>;

export const ClaimRequest = Type.Object({ epoch: Count, waitSeconds: Count });
export type ClaimRequest = Static<typeof ClaimRequest>;
export const ClaimReply = Type.Object({ job: Type.Union([Job, Type.Null()]) });
export type ClaimReply = Static<typeof ClaimReply>;

export const FenceOnly = Type.Object({ fence: Count });
export type FenceOnly = Static<typeof FenceOnly>;
export { Nothing };

/** One line of an attempt's `events.jsonl`. Masked before it leaves the agent. */
export const RunEvent = Type.Union([
  Type.Object({
    kind: Type.Literal('step'),
    at: Instant,
    step: Text,
    status: oneOf(stepStatuses),
    /** How often the step has been repeated so far. */
    retryCount: Type.Optional(Count),
  }),
  Type.Object({
    kind: Type.Literal('resource'),
    at: Instant,
    address: Text,
    provider: Text,
    type: Text,
    name: Text,
    moduleName: Text,
    status: oneOf(['started', 'done', 'failed']),
    action: oneOf(['create', 'update', 'delete', 'read']),
    /** The cloud's own id, once the tool has told it. */
    id: Type.Optional(Text),
  }),
  Type.Object({ kind: Type.Literal('git'), at: Instant, commit: Text, branch: Text, timestamp: Text }),
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
  /** What the server has: the next expected positions. The agent continues from there, even backwards. */
  events: Count,
  logs: Type.Record(Text, Count),
  abort: Type.Union([oneOf(['gently', 'now']), Type.Null()]),
});
export type ReportReply = Static<typeof ReportReply>;

export const MarkRequest = Type.Object({
  fence: Count,
  mark: Type.String({ minLength: 16 }),
  /** The mark that this one takes the place of: its command has ended, and how is known. */
  replaces: Type.Optional(Type.String({ minLength: 16 })),
});
export type MarkRequest = Static<typeof MarkRequest>;

/** The body of `putState` is the state itself; this is its query. */
export const StateQuery = Type.Object({
  fence: Text,
  sha256: Text,
  /** The state version that this one follows; empty: there was none. */
  follows: Text,
  /** `final`: the last one of the attempt; `running`: the tool is still at it. */
  moment: oneOf(['running', 'final']),
});
export type StateQuery = Static<typeof StateQuery>;
export const StateReply = Type.Object({ stateVersionId: Text, standing: oneOf(['current', 'rescued']) });
export type StateReply = Static<typeof StateReply>;

/**
 * Blobs of an attempt: `plan` (the plan file), `tree` (tar of what travels) and `source` (uploaded code,
 * which agents only read).
 */
export const blobNames = ['plan', 'tree', 'source'] as const;
export type BlobName = (typeof blobNames)[number];

export const PlanResourceChange = Type.Object({
  id: Type.Optional(Text),
  name: Text,
  providerName: Text,
  type: Text,
  path: Text,
  moduleName: Type.Optional(Text),
  action: oneOf(['create', 'update', 'delete', 'recreate', 'metadata']),
  driftByCloud: Type.Optional(Type.Boolean()),
  attributes: Type.Array(
    Type.Object({ name: Text, before: Type.Optional(Type.Unknown()), after: Type.Optional(Type.Unknown()) }),
  ),
  importing: Type.Optional(Type.Object({ id: Text })),
  actionReason: Type.Optional(Text),
  createBeforeDestroy: Type.Optional(Type.Boolean()),
  previousAddress: Type.Optional(Text),
});
export type PlanResourceChange = Static<typeof PlanResourceChange>;

/**
 * The one common plan, whatever the tool; shapes as the public interface answers them. Sensitive values are
 * already replaced.
 */
export const Plan = Type.Object({
  resourceChanges: Type.Array(PlanResourceChange),
  /** What a drift run found that its plan does not change: not drift, stored by the next apply. */
  settled: Type.Optional(Type.Array(PlanResourceChange)),
  outputChanges: Type.Array(
    Type.Object({
      moduleName: Type.Optional(Text),
      name: Text,
      action: Text,
      attributes: Type.Array(
        Type.Object({
          name: Text,
          before: Type.Optional(Type.Unknown()),
          after: Type.Optional(Type.Unknown()),
        }),
      ),
    }),
  ),
});
export type Plan = Static<typeof Plan>;
export const PlanSummary = Type.Object({
  added: Count,
  changed: Count,
  destroyed: Count,
  imported: Type.Optional(Count),
});
export type PlanSummary = Static<typeof PlanSummary>;

export const Output = Type.Object({ value: Type.Unknown(), sensitive: Type.Boolean(), type: Type.Unknown() });
export const ResourceRow = Type.Object({ provider: Text, type: Text, name: Text, moduleName: Text });
export type ResourceRow = Static<typeof ResourceRow>;

/** The outcome of an attempt, once and for all: written to the spool before it is sent. */
export const Outcome = Type.Object({
  /**
   * `planned`: the plan phase ended well. `applied`: the apply phase did. `failed`: a command said no.
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
  plan: Type.Optional(Plan),
  planSummary: Type.Optional(PlanSummary),
  /** Anything at all to apply (outputs included), and any change of a resource. */
  hasChanges: Type.Optional(Type.Boolean()),
  hasResourceChanges: Type.Optional(Type.Boolean()),
  approvedParts: Type.Optional(ApprovedParts),
  workFolder: Type.Optional(Text),
  providerVersions: Type.Optional(Type.Record(Text, Text)),
  moduleVersions: Type.Optional(Type.Record(Text, Text)),
  /** Values of sensitive outputs are in plain text here; the server seals them. */
  outputs: Type.Optional(Type.Record(Text, Output)),
  resources: Type.Optional(Type.Array(ResourceRow)),
  resourceCount: Type.Optional(Count),
  stateFileHash: Type.Optional(Text),
  /** The state is ours (false: the code's own backend keeps it). */
  isStateOurs: Type.Optional(Type.Boolean()),
  stateVersionId: Type.Optional(Text),
  /**
   * Nobody wrote an outcome: the runner is gone. Without a stored mark the server starts the job again, at
   * most three times.
   */
  isLost: Type.Optional(Type.Boolean()),
  /**
   * When a tool died: resources it reported as made after its last state, and those it had begun and not
   * ended.
   */
  unrecorded: Type.Optional(
    Type.Array(
      Type.Object({ address: Text, id: Type.Optional(Text), certainty: oneOf(['created', 'may exist']) }),
    ),
  ),
});
export type Outcome = Static<typeof Outcome>;

export const FinishRequest = Type.Object({ fence: Count, outcome: Outcome });
export type FinishRequest = Static<typeof FinishRequest>;
/**
 * `next`: the apply phase of the same deployment, already claimed for this agent; `confirm` it like any
 * other.
 */
export const FinishReply = Type.Object({ next: Type.Union([Job, Type.Null()]) });
export type FinishReply = Static<typeof FinishReply>;

export const GoodbyeRequest = Type.Object({ epoch: Count, held: Type.Array(HeldAttempt) });
export type GoodbyeRequest = Static<typeof GoodbyeRequest>;

/** Error codes of protocol calls, in addition to those of the public error table. */
export const protocolRefusals = [
  'epoch_replaced',
  'fence_outdated',
  'mark_taken',
  'protocol_version',
  'spool_taken',
] as const;
export type ProtocolRefusal = (typeof protocolRefusals)[number];
