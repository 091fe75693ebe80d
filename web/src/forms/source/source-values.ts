/** Source of code and the tool that runs it, as forms have them: of templates, and of environments without one. */
import type { CallInput } from '#contract/client/client.ts';
import type { CreatableTemplateType } from '#contract/schema/template-types.ts';
import { sharedRefusal, typeRefusal } from '#contract/templates/setting-rules.ts';
import type { Template } from '#contract/templates/shapes.ts';

type TemplateSourceBody = CallInput<'updateTemplate'>['body'];

export const forges = {
  '': 'Not specified',
  isGitLab: 'GitLab',
  isGitLabEnterprise: 'GitLab, self-hosted',
  isGitHubEnterprise: 'GitHub Enterprise',
  isBitbucketServer: 'Bitbucket Server',
  isAzureDevOps: 'Azure DevOps',
} as const;
export type Forge = keyof typeof forges;

/** Every field as its input has it: an empty text is "not specified". */
export interface SourceValues {
  readonly type: CreatableTemplateType;
  readonly repository: string;
  readonly revision: string;
  readonly path: string;
  readonly fileName: string;
  readonly isHelmRepository: boolean;
  readonly helmChartName: string;
  readonly tokenId: string;
  readonly sshKeyId: string;
  readonly vcsConnectionId: string;
  readonly forge: Forge;
  readonly terraformVersion: string;
  readonly opentofuVersion: string;
  readonly terragruntVersion: string;
  readonly pulumiVersion: string;
  readonly ansibleVersion: string;
  readonly terragruntTfBinary: 'opentofu' | 'terraform';
  readonly isTerragruntRunAll: boolean;
}

export const emptySource: SourceValues = {
  type: 'terraform',
  repository: '',
  revision: '',
  path: '',
  fileName: '',
  isHelmRepository: false,
  helmChartName: '',
  tokenId: '',
  sshKeyId: '',
  vcsConnectionId: '',
  forge: '',
  terraformVersion: '',
  opentofuVersion: 'latest',
  terragruntVersion: 'latest',
  pulumiVersion: '',
  ansibleVersion: 'latest',
  terragruntTfBinary: 'opentofu',
  isTerragruntRunAll: false,
};

const versionFields = [
  'terraformVersion',
  'opentofuVersion',
  'terragruntVersion',
  'pulumiVersion',
  'ansibleVersion',
] as const satisfies readonly (keyof SourceValues)[];
export type VersionField = (typeof versionFields)[number];

/** The versions that a tool of these settings has. */
export function versionsOf({ type, terragruntTfBinary }: SourceValues): VersionField[] {
  if (type === 'terragrunt') return ['terragruntVersion', `${terragruntTfBinary}Version`];
  const field = `${type}Version` as VersionField;
  return versionFields.includes(field) ? [field] : [];
}

const texts = ['repository', 'revision', 'path', 'tokenId', 'vcsConnectionId'] as const;

/** The settings as a request has them: only what its tool has, and nothing that is empty. */
export function sourceBody(values: SourceValues): Omit<TemplateSourceBody, 'name'> {
  const { type, isHelmRepository, isTerragruntRunAll, terragruntTfBinary, sshKeyId, forge } = values;
  const filled = (names: readonly (keyof SourceValues)[]) =>
    Object.fromEntries(
      names.flatMap((name) => (values[name] === '' ? [] : [[name, String(values[name]).trim()]])),
    );
  return {
    ...filled([...texts, ...versionsOf(values)]),
    repository: values.repository.trim(),
    type,
    ...(sshKeyId === '' ? {} : { sshKeys: [{ id: sshKeyId }] }),
    ...(forge === '' ? {} : { [forge]: true }),
    ...(type === 'cloudformation' ? filled(['fileName']) : {}),
    ...(type === 'helm' && isHelmRepository ? { isHelmRepository, ...filled(['helmChartName']) } : {}),
    ...(type === 'terragrunt'
      ? { terragruntTfBinary, ...(isTerragruntRunAll ? { isTerragruntRunAll } : {}) }
      : {}),
  };
}

/** Fields of every reply about something with a source. */
type SourceReply = Pick<
  Template,
  | 'type'
  | 'repository'
  | 'revision'
  | 'path'
  | 'fileName'
  | 'isHelmRepository'
  | 'helmChartName'
  | 'tokenId'
  | 'sshKeys'
  | 'vcsConnectionId'
  | 'terragruntTfBinary'
  | 'isTerragruntRunAll'
  | VersionField
  | Exclude<Forge, ''>
>;

/** Values of a template, or of another reply with a source, as a form shows them. */
export function sourceOf(template: SourceReply): SourceValues {
  const forge = (Object.keys(forges) as Forge[]).find((name) => name !== '' && template[name]) ?? '';
  const versions = Object.fromEntries(versionFields.map((name) => [name, template[name] ?? '']));
  return {
    ...emptySource,
    ...versions,
    type: template.type as CreatableTemplateType,
    repository: template.repository,
    revision: template.revision ?? '',
    path: template.path ?? '',
    fileName: template.fileName ?? '',
    isHelmRepository: template.isHelmRepository ?? false,
    helmChartName: template.helmChartName ?? '',
    tokenId: template.tokenId ?? '',
    sshKeyId: template.sshKeys?.[0]?.id ?? '',
    vcsConnectionId: template.vcsConnectionId ?? '',
    forge,
    terragruntTfBinary: template.terragruntTfBinary ?? 'opentofu',
    isTerragruntRunAll: template.isTerragruntRunAll ?? false,
  };
}

export type SourceErrors = Partial<Record<keyof SourceValues, string>>;

const semanticVersion = /^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const words: Readonly<Record<VersionField, readonly string[]>> = {
  terraformVersion: ['latest', 'RESOLVE_FROM_TERRAFORM_CODE'],
  opentofuVersion: ['latest', 'RESOLVE_FROM_CODE'],
  terragruntVersion: ['latest'],
  pulumiVersion: ['latest'],
  ansibleVersion: ['latest'],
};

/** Words that a version field accepts besides versions. */
export function versionWords(field: VersionField): readonly string[] {
  return words[field];
}

function versionErrors(values: SourceValues): SourceErrors {
  const wrong = versionsOf(values).filter((field) => {
    const text = values[field].trim();
    return text !== '' && !words[field].includes(text) && !semanticVersion.test(text);
  });
  return Object.fromEntries(
    wrong.map((field) => [field, `Three numbers such as 1.5.7, or ${words[field].join(' or ')}.`]),
  );
}

/** Problems found before the request, by field; the same rules as in the service. */
export function sourceErrors(values: SourceValues, isShared: boolean): SourceErrors {
  const body = sourceBody(values);
  const refusal = typeRefusal(body as never) ?? (isShared ? sharedRefusal(body as never) : null);
  return {
    ...(body.repository === '' ? { repository: 'The address of the repository is required.' } : {}),
    ...(refusal === null ? {} : { [refusal.field]: `This ${refusal.reason}.` }),
    ...versionErrors(values),
  };
}

/** Whether an address is one that the service can read. */
export function looksComplete(address: string): boolean {
  return /^(https?:\/\/|ssh:\/\/|git@|\/).+[^/\s]$/.test(address.trim());
}

/** The parameters with which the service reads the repository. */
export function accessOf(values: SourceValues, projectId: string, organizationId: string) {
  const { repository, tokenId, sshKeyId, vcsConnectionId } = values;
  return {
    repository: repository.trim(),
    organizationId,
    ...(projectId === '' ? {} : { projectId }),
    ...(tokenId === '' ? {} : { tokenId }),
    ...(sshKeyId === '' ? {} : { sshKeyIds: JSON.stringify([sshKeyId]) }),
    ...(vcsConnectionId === '' ? {} : { vcsConnectionId }),
  };
}

/** The errors of a form whose fields of the source are called `source.…`, by their own names. */
export function sourceErrorsOf(errors: Readonly<Record<string, string>>): SourceErrors {
  const prefix = 'source.';
  return Object.fromEntries(
    Object.entries(errors).flatMap(([field, text]) =>
      field.startsWith(prefix) ? [[field.slice(prefix.length), text]] : [],
    ),
  );
}
