/** The settings of a template as they are stored: only those that were sent. */
import type { TemplateRequest } from '#contract/templates/template-body.ts';
import type { TemplateSettings } from '../database/stored.ts';

const settingNames = [
  'revision',
  'path',
  'fileName',
  'helmChartName',
  'tokenName',
  'tokenId',
  'sshKeys',
  'githubInstallationId',
  'bitbucketClientKey',
  'isBitbucketServer',
  'isGitLabEnterprise',
  'isGitHubEnterprise',
  'isGitLab',
  'isAzureDevOps',
  'isHelmRepository',
  'vcsConnectionId',
  'terraformVersion',
  'opentofuVersion',
  'terragruntVersion',
  'pulumiVersion',
  'ansibleVersion',
  'terragruntTfBinary',
  'retry',
  'description',
  'runTestsOnPullRequest',
  'isTerragruntRunAll',
  'tagPrefix',
] as const satisfies readonly (keyof TemplateRequest)[];

/** The settings of a request. */
export type SentSettings = Pick<TemplateRequest, (typeof settingNames)[number]>;

/** Clients compare what they read with what they sent, so nothing is filled in. */
export function templateSettings(request: SentSettings): TemplateSettings {
  return Object.fromEntries(
    settingNames.filter((name) => request[name] !== undefined).map((name) => [name, request[name]]),
  );
}
