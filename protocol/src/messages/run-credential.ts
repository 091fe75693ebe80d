/** A cloud credential of a run, which the agent turns into environment variables and files. */
import { type Static, Type } from 'typebox';
import { Text } from '#contract/schema/schema.ts';

export const RunCredential = Type.Object({
  id: Text,
  /** As people know it: messages name it. */
  name: Text,
  /** One of `credentialKinds`; an agent that does not know it fails the run. */
  type: Text,
  /** Changes with the value, and with who uses it: what was made with one version may be used again with it. */
  version: Text,
  /** The fields of its type; `duration` is a number. */
  value: Type.Record(Text, Type.Union([Text, Type.Integer()])),
  /** For a type with OIDC: the token of this run. */
  token: Type.Optional(Text),
  /** Why it cannot be used, as the end of a sentence; the value is empty then. */
  problem: Type.Optional(Text),
});
export type RunCredential = Static<typeof RunCredential>;
