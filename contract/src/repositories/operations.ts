/** Operations with which the service itself reads repositories. */
import { Type } from 'typebox';
import { oneOf, templateTypes } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { Text } from '../schema/schema.ts';
import { PolicySchema, RepositoryVariable, Revisions } from './shapes.ts';

/** Address of the repository, and the credentials to read it with. */
const access = {
  repository: Type.String({ description: 'Address of the repository, without user and token' }),
  organizationId: Type.Optional(
    Type.String({ description: 'Organization of the credentials, if no other parameter says which one' }),
  ),
  projectId: Type.Optional(
    Type.String({
      description: 'Project for which the repository is read: with its credentials, and rights in it',
    }),
  ),
  tokenId: Type.Optional(Text),
  sshKeyIds: Type.Optional(
    Type.String({ description: 'Ids of ssh keys, as the text of a JSON array: `["id"]`' }),
  ),
  githubInstallationId: Type.Optional(
    Type.String({ description: 'Accepted and not used: the repository is read with the other credentials' }),
  ),
  bitbucketClientKey: Type.Optional(
    Type.String({ description: 'Accepted and not used: the repository is read with the other credentials' }),
  ),
  vcsConnectionId: Type.Optional(
    Type.String({ description: 'Connection whose token is sent to the repository, if it is on its host' }),
  ),
};

/** Revision and path to read. */
const place = {
  revision: Type.Optional(
    Type.String({ description: 'Branch, tag or commit; empty or absent: the default branch' }),
  ),
  path: Type.Optional(Type.String({ description: 'Folder of the configuration; empty or absent: the root' })),
};

const needsToo = [
  { right: 'CREATE_VCS_ENVIRONMENT', for: 'reading repositories, in the project or anywhere' },
  { right: 'CREATE_AND_EDIT_TEMPLATES', for: 'reading repositories, instead of CREATE_VCS_ENVIRONMENT' },
] as const;

const howItIsRead =
  'The service clones the repository under the same rules as a run, and executes nothing of it. A token or a ' +
  'key of certain projects can be used for these projects only. Needs CREATE_VCS_ENVIRONMENT or ' +
  'CREATE_AND_EDIT_TEMPLATES.';

export const operations = defineOperations('repositories', {
  listVariablesFromRepository: operation('GET', '/blueprints/variables-from-repository', {
    summary: 'Generate variables from repository',
    description:
      `${howItIsRead} Without a type, the variables are those of OpenTofu: the \`variable\` blocks of the ` +
      'folder, in the order of its files.',
    inInterface: true,
    needs: 'signed-in',
    needsToo,
    query: Type.Object({
      ...access,
      ...place,
      type: Type.Optional(oneOf(templateTypes, 'Tool of the configuration (default: opentofu)')),
      fileName: Type.Optional(
        Type.String({
          description: 'File of a CloudFormation template (default: template.yaml, .yml or .json)',
        }),
      ),
    }),
    reply: Type.Array(RepositoryVariable),
    refusesWith: ['forbidden', 'unprocessable', 'unavailable'],
  }),
  getPolicySchema: operation('GET', '/approval-policies/configuration-schema', {
    summary: 'Get configuration schema of an approval policy',
    description:
      `${howItIsRead} Reads \`configurationSchema.json\` in the folder of a policy: what its ` +
      '`policyConfiguration` can be, for forms. The service does not enforce it.',
    needs: 'signed-in',
    needsToo,
    query: Type.Object({ ...access, ...place }),
    reply: PolicySchema,
    refusesWith: ['forbidden', 'unprocessable', 'unavailable'],
  }),
  listRepositoryRevisions: operation('GET', '/blueprints/vcs-revisions', {
    summary: 'List branches and tags of a repository',
    description: howItIsRead,
    needs: 'signed-in',
    needsToo,
    query: Type.Object(access),
    reply: Revisions,
    refusesWith: ['forbidden', 'unprocessable', 'unavailable'],
  }),
});
