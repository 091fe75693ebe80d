/**
 * Source of code and the tool that runs it: the fields that templates, environments without a template
 * and discovery share.
 */
import { type Static, Type } from 'typebox';
import { oneOf, terragruntTfBinaries } from '../schema/enumerations.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { closed, Flag, Name, nullable, orNull, Text } from '../schema/schema.ts';

const semanticVersion = 'v?\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?';

function version(...words: string[]) {
  return versionOr([], words);
}

/** @param unnamed other texts that are accepted, which the description leaves out */
function versionOr(unnamed: readonly string[], words: readonly string[]) {
  return Type.String({
    pattern: `^(${[...unnamed, ...words, semanticVersion].join('|')})$`,
    description: ['A semantic version', ...words.map((word) => `\`${word}\``)].join(', or '),
  });
}

const SshKey = closed({ id: Name, name: Type.Optional(Text) });
const GithubInstallation = nullable(Type.Integer());

const vcsFlags = {
  isBitbucketServer: Type.Optional(Flag),
  isGitLabEnterprise: Type.Optional(Flag),
  isGitHubEnterprise: Type.Optional(Flag),
  isGitLab: Type.Optional(Flag),
  isAzureDevOps: Type.Optional(Flag),
  isHelmRepository: Type.Optional(Flag),
};

const sourceTexts = {
  revision: Type.Optional(
    Type.String({ description: 'Branch, tag or commit; empty or absent: the default branch' }),
  ),
  path: Type.Optional(
    Type.String({
      description: 'Folder of the configuration inside the repository; empty or absent: its root',
    }),
  ),
  fileName: Type.Optional(Text),
  helmChartName: Type.Optional(Text),
  tokenName: Type.Optional(Text),
  tokenId: Type.Optional(Text),
};

/**
 * Source and VCS connection fields of a request, `repository` apart: its position decides whether it is
 * required.
 */
export const sourceRequestFields = {
  ...sourceTexts,
  sshKeys: orNull(Type.Array(SshKey)),
  githubInstallationId: Type.Optional(GithubInstallation),
  bitbucketClientKey: orNull(Text),
  vcsConnectionId: orNull(Text),
  gitlabProjectId: orNull(withoutEffect(Type.Integer(), noEffects.forgeIds)),
  ...vcsFlags,
};

/** The same fields of a reply. */
export const sourceReplyFields = {
  ...sourceTexts,
  sshKeys: Type.Optional(Type.Array(Type.Object({ id: Text, name: Type.Optional(Text) }))),
  githubInstallationId: Type.Optional(Type.Integer()),
  bitbucketClientKey: Type.Optional(Text),
  vcsConnectionId: Type.Optional(Text),
  ...vcsFlags,
};

const opentofuWords = ['latest', 'RESOLVE_FROM_CODE', 'RESOLVE_FROM_TERRAFORM_CODE'];

/** Tool versions of a request: checked for their form only, whether one exists shows when it is used. */
export const toolVersionRequestFields = {
  terraformVersion: orNull(version('latest', 'RESOLVE_FROM_TERRAFORM_CODE')),
  opentofuVersion: orNull(version(...opentofuWords)),
  terragruntVersion: orNull(version('latest')),
  pulumiVersion: orNull(version('latest')),
  ansibleVersion: orNull(version('latest')),
};

/** The same where an empty text clears it. */
export const clearableOpentofuVersion = orNull(versionOr([''], opentofuWords));

export const toolVersionReplyFields = {
  terraformVersion: Type.Optional(Text),
  opentofuVersion: Type.Optional(Text),
  terragruntVersion: Type.Optional(Text),
  pulumiVersion: Type.Optional(Text),
  ansibleVersion: Type.Optional(Text),
};

export const TerragruntTfBinary = oneOf(terragruntTfBinaries);

const times = Type.Optional(Type.Integer({ minimum: 1, maximum: 3 }));
const RetryRule = closed({
  times,
  errorRegex: Type.Optional(Type.String({ description: 'Retry only when the error matches; empty: always' })),
});

/** Retry settings of a request. */
export const Retry = closed({ onDestroy: orNull(RetryRule), onDeploy: orNull(RetryRule) }, 'Retry');
export type Retry = Static<typeof Retry>;

const RetryRuleReply = Type.Object({ times: Type.Optional(Type.Integer()), errorRegex: Type.Optional(Text) });
export const RetryReply = Type.Object({
  onDestroy: Type.Optional(RetryRuleReply),
  onDeploy: Type.Optional(RetryRuleReply),
});
