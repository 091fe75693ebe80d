/** Shapes of replies about templates. */
import { type Static, Type } from 'typebox';
import { oneOf, storedTemplateTypes } from '../schema/enumerations.ts';
import { AnyObject, Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import {
  RetryReply,
  sourceReplyFields,
  TerragruntTfBinary,
  toolVersionReplyFields,
} from '../sources/shapes.ts';
import { User } from '../users/shapes.ts';
import { creationScopes } from './template-body.ts';

export const Template = replyObject('Template', {
  id: Type.Optional(Text),
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  name: Text,
  creationScopeId: Text,
  creationScope: oneOf(creationScopes),
  repository: Text,
  type: oneOf(storedTemplateTypes),
  organizationId: Text,
  description: Type.Optional(Text),
  retry: Type.Optional(RetryReply),
  runTestsOnPullRequest: Type.Optional(Flag),
  isTerragruntRunAll: Type.Optional(Flag),
  projectIds: Type.Optional(Type.Array(Text)),
  tagPrefix: Type.Optional(Text),
  ...sourceReplyFields,
  ...toolVersionReplyFields,
  terragruntTfBinary: Type.Optional(TerragruntTfBinary),
  author: Type.Optional(User),
  authorId: Type.Optional(Text),
  isDeleted: Type.Optional(Flag),
  projectId: Type.Optional(Text),
  isSingleUse: Type.Optional(Flag),
  policyConfiguration: Type.Optional({
    ...AnyObject,
    description: 'Parameters of an approval policy, its `input.policyConfiguration`',
  }),
});
export type Template = Static<typeof Template>;
