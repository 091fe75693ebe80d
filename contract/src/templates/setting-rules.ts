/** Settings of each type of template. Pure. */

import { lt, parse } from 'semver';
import type { TemplateRequest } from './template-body.ts';

/** A setting that a template of this type cannot have, or lacks. */
export interface FieldRefusal {
  readonly field: string;
  readonly reason: string;
}

type RuleSettings = Omit<TemplateRequest, 'name' | 'repository'>;

const hosts = [
  'isGitLab',
  'isAzureDevOps',
  'isGitHubEnterprise',
  'isGitLabEnterprise',
  'isBitbucketServer',
] as const satisfies readonly (keyof RuleSettings)[];

/** Types that do not run without a version, with the words that their field takes. */
const requiredVersions = {
  opentofu: { field: 'opentofuVersion', words: 'a version, latest or RESOLVE_FROM_CODE' },
  terragrunt: { field: 'terragruntVersion', words: 'a version or latest' },
  ansible: { field: 'ansibleVersion', words: 'a version or latest' },
} as const;

const oldestAnsible = '3.0.0';
const oldestRunAll = '0.28.1';

/** Words such as `latest` are newer than every version. */
function isOlder(version: string | undefined, oldest: string): boolean {
  const parsed = parse(version);
  return parsed !== null && lt(parsed, oldest);
}

function fileRefusal({ type, fileName, helmChartName, isHelmRepository }: RuleSettings): FieldRefusal | null {
  if (type === 'cloudformation' && !fileName)
    return { field: 'fileName', reason: 'is required with type cloudformation: the file of the stack' };
  if (type !== 'cloudformation' && fileName)
    return { field: 'fileName', reason: `applies to cloudformation only, and this is ${type}` };
  if (type !== 'helm') {
    if (helmChartName) return { field: 'helmChartName', reason: `applies to helm only, and this is ${type}` };
    return isHelmRepository
      ? { field: 'isHelmRepository', reason: `applies to helm only, and this is ${type}` }
      : null;
  }
  if (isHelmRepository && !helmChartName)
    return { field: 'helmChartName', reason: 'is required with isHelmRepository: the name of the chart' };
  if (helmChartName && !isHelmRepository)
    return { field: 'isHelmRepository', reason: 'must be true with helmChartName' };
  return null;
}

function versionRefusal(settings: RuleSettings): FieldRefusal | null {
  const { type, ansibleVersion, terragruntVersion, isTerragruntRunAll } = settings;
  if (type === 'ansible' && isOlder(ansibleVersion, oldestAnsible))
    return { field: 'ansibleVersion', reason: `must be ${oldestAnsible} or later` };
  if (!isTerragruntRunAll) return null;
  if (type !== 'terragrunt')
    return { field: 'isTerragruntRunAll', reason: `applies to terragrunt only, and this is ${type}` };
  return isOlder(terragruntVersion, oldestRunAll)
    ? { field: 'isTerragruntRunAll', reason: `needs terragrunt ${oldestRunAll} or later` }
    : null;
}

function binaryRefusal({ type, terragruntTfBinary }: RuleSettings): FieldRefusal | null {
  return terragruntTfBinary && type !== 'terragrunt'
    ? { field: 'terragruntTfBinary', reason: `applies to terragrunt only, and this is ${type}` }
    : null;
}

function hostRefusal(settings: RuleSettings): FieldRefusal | null {
  const [first, second] = hosts.filter((host) => settings[host]);
  if (second) return { field: second, reason: `excludes ${first}: a repository is on one git host` };
  return settings.githubInstallationId && settings.vcsConnectionId
    ? { field: 'vcsConnectionId', reason: 'excludes githubInstallationId: specify one of them' }
    : null;
}

/** Why a cluster would refuse the name of a namespace; null if it would not. */
export function namespaceRefusal(name: string): string | null {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)
    ? null
    : 'must be the name of a namespace: 1 to 63 lower-case letters, digits and -, with a letter or digit at both ends';
}

/** @returns the first setting that does not fit the type; null if all do */
export function typeRefusal(settings: RuleSettings): FieldRefusal | null {
  return (
    fileRefusal(settings) ?? versionRefusal(settings) ?? binaryRefusal(settings) ?? hostRefusal(settings)
  );
}

/**
 * Checks the additional requirements of shared templates: environments without a template leave them to the service.
 * @returns the first setting that is not enough, or too much; null if there is none
 */
export function sharedRefusal(settings: RuleSettings): FieldRefusal | null {
  const required = Object.entries(requiredVersions).find(([type]) => type === settings.type)?.[1];
  if (required && !settings[required.field])
    return { field: required.field, reason: `is required with type ${settings.type}: ${required.words}` };
  return (settings.sshKeys ?? []).length > 1
    ? { field: 'sshKeys', reason: 'must contain at most one key' }
    : null;
}
