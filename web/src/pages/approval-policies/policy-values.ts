/** An approval policy as its form has it. */

import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import type { CallInput } from '#contract/client/client.ts';
import type { ApprovalPolicy } from '#contract/custom-flows/shapes.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { emptySource, type SourceValues, sourceBody, sourceOf } from '../../forms/source/source-values.ts';
import { validateName } from '../../forms/validate-name.ts';
import { configurationProblems } from './configuration-schema.ts';

export type ApprovalPolicyBody = Omit<CallInput<'updateApprovalPolicy'>['body'], 'id'>;
export type PolicyConfiguration = Readonly<Record<string, unknown>>;

export interface ApprovalPolicyValues {
  readonly name: string;
  readonly origin: 'catalogue' | 'repository';
  /** Folder of the catalogue. */
  readonly folder: string;
  readonly source: SourceValues;
  /** The configuration as JSON, which fields edit, too; empty: none. */
  readonly configurationText: string;
  /** Whether the JSON itself is shown where there are fields. */
  readonly isJson: boolean;
}

export const emptyPolicy: ApprovalPolicyValues = {
  name: '',
  origin: 'catalogue',
  folder: '',
  source: emptySource,
  configurationText: '',
  isJson: false,
};

/** Values of a policy, as the form shows them. */
export function policyValues(policy: ApprovalPolicy): ApprovalPolicyValues {
  const isCatalogued = policy.repository === catalogueRepository;
  const { policyConfiguration: configuration = {} } = policy;
  const isConfigured = Object.keys(configuration).length > 0;
  const source = { ...sourceOf(policy as unknown as Template), type: emptySource.type };
  return {
    name: policy.name,
    origin: isCatalogued ? 'catalogue' : 'repository',
    folder: isCatalogued ? (policy.path ?? '') : '',
    source: isCatalogued ? emptySource : source,
    configurationText: isConfigured ? JSON.stringify(configuration, null, 2) : '',
    isJson: false,
  };
}

/** The object that a text is. @returns undefined for anything else; an empty text is an empty object */
export function objectOf(text: string): PolicyConfiguration | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as PolicyConfiguration)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The request that creates or replaces a policy. @param before what is replaced */
export function policyBody(values: ApprovalPolicyValues, before?: ApprovalPolicy): ApprovalPolicyBody {
  const { name, origin, folder } = values;
  const policyConfiguration = objectOf(values.configurationText) ?? {};
  const configured = Object.keys(policyConfiguration).length > 0 ? { policyConfiguration } : {};
  if (origin === 'catalogue')
    return { name: name.trim(), repository: catalogueRepository, path: folder, ...configured };
  const { type: _, ...source } = sourceBody(values.source);
  const { githubInstallationId, bitbucketClientKey } = before ?? {};
  return {
    ...(githubInstallationId === undefined ? {} : { githubInstallationId }),
    ...(bitbucketClientKey === undefined ? {} : { bitbucketClientKey }),
    ...(source as ApprovalPolicyBody),
    name: name.trim(),
    ...configured,
  };
}

export type PolicyErrors = Readonly<Record<string, string>>;

/**
 * Problems found before the request; fields of the source as `source.…`, settings as `configuration.…`.
 * @param schema of the policy's configuration, as far as it is known
 */
export function policyErrors(values: ApprovalPolicyValues, schema: unknown): PolicyErrors {
  const { name, origin, folder, source, configurationText, isJson } = values;
  const isCatalogued = origin === 'catalogue';
  const configuration = objectOf(configurationText);
  // A person who writes JSON may know better than a schema in a repository: the policy itself decides.
  const isChecked = configuration !== undefined && (isCatalogued || !isJson);
  const problems = isChecked ? configurationProblems(schema, configuration) : {};
  const settings = Object.entries(problems).map(([field, text]) => [`configuration.${field}`, text]);
  const [wrong] = Object.entries(problems);
  const nameProblem = validateName(name);
  return {
    ...(nameProblem === null ? {} : { name: nameProblem }),
    ...(isCatalogued && folder === '' ? { folder: 'Choose a policy.' } : {}),
    ...(!isCatalogued && source.repository.trim() === ''
      ? { 'source.repository': 'The address of the repository is required.' }
      : {}),
    ...Object.fromEntries(settings),
    ...(isJson && wrong ? { configurationText: `${wrong[0]}: ${wrong[1]}` } : {}),
    ...(configuration === undefined
      ? { configurationText: 'This must be a JSON object, such as {"limit": 3}.' }
      : {}),
  };
}

/** The field of the form that a refusal names; undefined: none. */
export function policyField(field: string, { origin, isJson }: ApprovalPolicyValues): string | undefined {
  const [first = '', second] = field.split('.');
  if (first === 'policyConfiguration')
    return isJson || second === undefined ? 'configurationText' : `configuration.${second}`;
  if (first === 'name') return 'name';
  if (origin === 'catalogue') return first === 'path' ? 'folder' : undefined;
  if (first === 'sshKeys') return 'source.sshKeyId';
  return first in emptySource ? `source.${first}` : undefined;
}
