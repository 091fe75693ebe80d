/** Shapes of replies about evaluated approval policies. */
import { type Static, Type } from 'typebox';
import { PolicyMessages, PolicyVerdict, policyDecisions } from '../deployments/policy-verdict.ts';
import { deploymentTypes, oneOf } from '../schema/enumerations.ts';
import { Count, Flag, replyObject, Text } from '../schema/schema.ts';

export const GivenVerdict = replyObject('GivenVerdict', {
  ...PolicyVerdict.properties,
  deploymentId: Type.String({ description: 'The deployment whose plan it was' }),
  deploymentType: oneOf(deploymentTypes),
  environmentId: Text,
  environmentName: Type.String({ description: 'Its name now' }),
  projectId: Text,
});
export type GivenVerdict = Static<typeof GivenVerdict>;

export const PolicyTest = replyObject('PolicyTest', {
  decision: oneOf(policyDecisions, '`none`: no rule matched; `error`: it could not be evaluated'),
  messages: { ...PolicyMessages, description: 'Messages of its rules' },
  error: Type.Optional(Type.String({ description: 'Why it could not be evaluated' })),
  commit: Type.Optional(
    Type.String({ description: 'The commit that was read; of the catalogue, the version of the service' }),
  ),
  hash: Type.Optional(Type.String({ description: 'SHA-256 over the files of the policy' })),
  milliseconds: { ...Count, description: 'How long the evaluation took, without reading the repository' },
  isPlanRebuilt: {
    ...Flag,
    description:
      'The plan was rebuilt from what is stored of it, which has only the attributes that change: the whole plan is ' +
      'kept while a deployment with policies is open',
  },
});
export type PolicyTest = Static<typeof PolicyTest>;
