/**
 * Messages between a server and its agents: schemas of all of them, apart from the public interface
 * and with a version of their own.
 *
 * Order of calls of an agent: `register` once at start (answers the epoch; an older epoch gets 409
 * `epoch_replaced` on every call and the agent exits, leaving its runners), then `claim` in a loop; an attempt
 * starts as soon as its spool folder is on disk. `report` as often as there is something to say, `mark` before
 * a command that changes the world, `putState` and `putBlob` before the `finish`, `finish` once the outcome is on
 * disk, with all that was not sent before if it is small, `heartbeat` all the while, `goodbye` at the end.
 *
 * `token` exchanges the secret for another token before the one of `register` ends.
 *
 * Every call may be sent twice: `report` is addressed by positions, `mark`, `putState`, `putBlob` and
 * `finish` by content. Calls about an attempt carry its fence; one that is no longer the job's is refused
 * with 409 `fence_outdated`, except `putState`: a state is never refused.
 */
import { type Static, Type } from 'typebox';
import { AgentIsolation } from '#contract/agents/shapes.ts';
import { oneOf } from '#contract/schema/enumerations.ts';
import { Count, Instant, Text } from '#contract/schema/schema.ts';
import { HeldAttempt } from './attempt.ts';

/** `major` must be equal on both sides; an agent one `minor` older works. */
export const protocolVersion = { major: 1, minor: 0 } as const;

/**
 * An agent accepts the answer to a `claim` or a `finish` for at most this long after it sent the call. A list
 * of held attempts says nothing about an attempt that was handed over more recently.
 */
export const answerSeconds = 35;

/** A reply that says only that the call was understood. */
export const Nothing = Type.Object({});

export const RegisterRequest = Type.Object({
  protocol: Type.Object({ major: Count, minor: Count }),
  agentVersion: Text,
  /** Identifies the spool folder: one agent at a time, distinguished from its predecessors by the epoch. */
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
  /** Isolation of its runs. */
  isolation: AgentIsolation,
});
export type RegisterRequest = Static<typeof RegisterRequest>;

export const AgentTimings = Type.Object({
  heartbeatSeconds: Count,
  /** Time for which a runner continues without contact before it interrupts its tool. */
  offlineGraceSeconds: Count,
  /** From the interrupt of a tool to its kill. */
  abortSeconds: Count,
});
export type AgentTimings = Static<typeof AgentTimings>;

/**
 * Stands for the secret in all further calls of this process, at this epoch, about its own attempts. It ends with its
 * time, and at once with the secret, and with the next `register` on the same spool.
 */
export const AgentToken = Type.Object({
  token: Text,
  /** Counted from the reply, so that no clock has to be right. */
  expiresInSeconds: Count,
});
export type AgentToken = Static<typeof AgentToken>;

export const RegisterReply = Type.Object({
  agentId: Text,
  epoch: Count,
  token: AgentToken,
  settings: AgentTimings,
  /** The time of the service, by which agents report times. */
  now: Instant,
  /**
   * Held attempts that the server no longer wants: their folders may go once their tools are gone and their
   * states are sent.
   */
  unwanted: Type.Array(HeldAttempt),
});
export type RegisterReply = Static<typeof RegisterReply>;

const ShortText = Type.String({ maxLength: 1000 });

/** Space of a folder that runs are written to. */
const FolderSpace = Type.Object({
  what: oneOf(['spool', 'work']),
  path: ShortText,
  freeMegabytes: Count,
  /** Below it, runs are interrupted. */
  reserveMegabytes: Count,
});

/** Facts about an agent's machine that people should know of before a run fails of them. */
export const AgentCondition = Type.Object({
  /** By the clock of the machine. */
  time: Instant,
  folders: Type.Array(FolderSpace, { maxItems: 10 }),
  /** Programs that are neither installed nor can be downloaded. */
  missingPrograms: Type.Array(ShortText, { maxItems: 50 }),
  /** It ends when its runs have ended. */
  isDraining: Type.Optional(Type.Boolean()),
  /** It has free slots, and too little memory for another run. */
  memoryShortage: Type.Optional(Type.Object({ availableMegabytes: Count, neededMegabytes: Count })),
});
export type AgentCondition = Static<typeof AgentCondition>;

/** The same as the service keeps it. */
export type StoredCondition = Omit<AgentCondition, 'time'> & {
  /** Of its clock before that of the service; negative: behind it. */
  readonly clockAheadSeconds: number;
};

export const HeartbeatRequest = Type.Object({
  epoch: Count,
  held: Type.Array(HeldAttempt),
  freeSlots: Count,
  condition: Type.Optional(AgentCondition),
});
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;
export const HeartbeatReply = Type.Object({
  settings: AgentTimings,
  now: Instant,
  /** Stop requested by a person or a limit. `gently`: one interrupt, the abort time, then a kill. */
  abort: Type.Array(Type.Object({ jobId: Text, attempt: Count, how: oneOf(['gently', 'now']) })),
  unwanted: Type.Array(HeldAttempt),
});
export type HeartbeatReply = Static<typeof HeartbeatReply>;

export const GoodbyeRequest = Type.Object({ epoch: Count, held: Type.Array(HeldAttempt) });
export type GoodbyeRequest = Static<typeof GoodbyeRequest>;

/** Error codes of protocol calls, in addition to those of the public error table. */
export type ProtocolRefusal =
  | 'epoch_replaced'
  | 'fence_outdated'
  | 'mark_taken'
  | 'protocol_version'
  | 'rest_incomplete'
  | 'spool_taken';
