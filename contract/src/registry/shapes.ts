/** Shapes of replies about modules, providers and the keys that sign providers. */
import { type Static, Type } from 'typebox';
import { Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

const SshKeyReference = Type.Object({ id: Text, name: Type.Optional(Text) });

export const Module = replyObject('Module', {
  id: Text,
  organizationId: Text,
  type: Type.Literal('module'),
  moduleName: Text,
  moduleProvider: Type.String({ description: 'The provider that the module is mainly for, such as aws' }),
  repository: Text,
  description: Type.Optional(Text),
  logoUrl: Type.Optional(Type.String({ description: 'Address of a picture' })),
  path: Type.Optional(
    Type.String({ description: 'Folder of the module in the repository; absent: its root' }),
  ),
  tagPrefix: Type.Optional(Text),
  opentofuVersion: Type.Optional(Text),
  moduleTestEnabled: Type.Boolean({ description: 'Stored: modules are not tested yet' }),
  runTestsOnPullRequest: Flag,
  tokenId: Type.Optional(Text),
  tokenName: Type.Optional(Text),
  sshkeys: Type.Optional(Type.Array(SshKeyReference, { description: 'SSH keys that read the repository' })),
  githubInstallationId: Type.Optional(Type.Integer()),
  vcsConnectionId: Type.Optional(Text),
  bitbucketClientKey: Type.Optional(Text),
  gitlabProjectId: Type.Optional(Type.Integer()),
  isGitLab: Flag,
  isGitLabEnterprise: Flag,
  isGitHubEnterprise: Flag,
  isBitbucketServer: Flag,
  isAzureDevOps: Flag,
  author: User,
  authorId: Text,
  createdAt: Instant,
  updatedAt: Instant,
  isDeleted: Flag,
});
export type Module = Static<typeof Module>;

export const Provider = replyObject('Provider', {
  id: Text,
  organizationId: Text,
  type: Text,
  description: Type.Optional(Text),
  createdBy: Text,
  createdByUser: User,
});
export type Provider = Static<typeof Provider>;

export const GpgKey = replyObject('GpgKey', {
  id: Text,
  organizationId: Text,
  name: Text,
  keyId: Type.String({ description: '16 upper-case hexadecimal digits' }),
  content: Type.String({ description: 'The armored public key, as it was sent' }),
  createdBy: Text,
  createdByUser: User,
});
export type GpgKey = Static<typeof GpgKey>;
