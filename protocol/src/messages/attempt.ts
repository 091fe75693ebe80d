/** Calls about one attempt: what it is called, its start mark, its state and its blobs. */
import { type Static, Type } from 'typebox';
import { oneOf } from '#contract/schema/enumerations.ts';
import { Count, Text } from '#contract/schema/schema.ts';

/** An attempt that an agent holds a spool folder for. */
export const HeldAttempt = Type.Object({ jobId: Text, attempt: Count, fence: Count });
export type HeldAttempt = Static<typeof HeldAttempt>;

export const FenceOnly = Type.Object({ fence: Count });
export type FenceOnly = Static<typeof FenceOnly>;

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
 * Blobs of an attempt: `plan` (the plan file), `tree` (tar of the files that an apply needs), `policy-input`
 * (what approval policies receive, as masked JSON) and `source` (uploaded code, which agents only read).
 */
export const blobNames = ['plan', 'tree', 'policy-input', 'source'] as const;
export type BlobName = (typeof blobNames)[number];
