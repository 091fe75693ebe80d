/** Verdict of an approval policy about a plan. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Count, Instant, Text } from '../schema/schema.ts';

/**
 * Decisions of one policy, in the order in which several are combined: the first that any policy makes applies.
 * `none`: none of its rules matched, so the plan is held for a person.
 */
export const policyDecisions = ['error', 'deny', 'pending', 'allow', 'none'] as const;
export type PolicyDecision = (typeof policyDecisions)[number];

/** The rules of a policy whose messages are read. */
export const policyRules = ['deny', 'pending', 'allow', 'warn'] as const;
export type PolicyRule = (typeof policyRules)[number];

const messages = (description: string) => Type.Array(Text, { description });

export const PolicyMessages = Type.Object(
  {
    deny: messages('Why the deployment was cancelled'),
    pending: messages('What is still missing, such as another approver'),
    allow: messages('Why no approval is needed'),
    warn: messages('What people should know; it decides nothing'),
  },
  { title: 'PolicyMessages' },
);
export type PolicyMessages = Static<typeof PolicyMessages>;

export const PolicyVerdict = Type.Object(
  {
    policyId: Type.String({ description: 'The approval policy' }),
    policyName: Type.String({ description: 'Its name at that time' }),
    round: Type.Integer({
      minimum: 1,
      description: '1: after the plan; then one more after each approval. The highest one holds',
    }),
    decision: oneOf(policyDecisions, '`none`: no rule matched; `error`: it could not be evaluated'),
    messages: { ...PolicyMessages, description: 'Messages of its rules' },
    error: Type.Optional(Type.String({ description: 'Why it could not be evaluated' })),
    repository: Text,
    revision: Type.Optional(
      Type.String({ description: 'As the policy names it; absent: the default branch' }),
    ),
    path: Type.Optional(Type.String({ description: 'Folder in the repository; absent: its root' })),
    commit: Type.Optional(
      Type.String({ description: 'The commit that was evaluated, in all rounds of a deployment the same' }),
    ),
    hash: Type.Optional(Type.String({ description: 'SHA-256 over the files of the policy' })),
    milliseconds: { ...Count, description: 'How long the evaluation took, without reading the repository' },
    at: { ...Instant, description: 'When it was evaluated' },
  },
  { title: 'PolicyVerdict' },
);
export type PolicyVerdict = Static<typeof PolicyVerdict>;
