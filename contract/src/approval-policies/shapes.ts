/** What replies about evaluated approval policies carry. */
import { type Static, Type } from 'typebox';
import { PolicyVerdict } from '../deployments/policy-verdict.ts';
import { deploymentTypes, oneOf } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

export const GivenVerdict = replyObject('GivenVerdict', {
  ...PolicyVerdict.properties,
  deploymentId: Type.String({ description: 'The deployment whose plan it was' }),
  deploymentType: oneOf(deploymentTypes),
  environmentId: Text,
  environmentName: Type.String({ description: 'Its name now' }),
  projectId: Text,
});
export type GivenVerdict = Static<typeof GivenVerdict>;
