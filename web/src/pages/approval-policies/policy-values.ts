/** An approval policy as its form has it. */
import type { CallInput } from '#contract/client/client.ts';
import { catalogueRepository } from '#contract/flows/catalogue-repository.ts';
import type { CataloguePolicy } from '#contract/flows/catalogue.ts';
import type { ApprovalPolicy } from '#contract/flows/shapes.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { emptySource, sourceBody, sourceOf, type SourceValues } from '../../forms/source/source-values.ts';

export type PolicyBody = Omit<CallInput<'updateApprovalPolicy'>['body'], 'id'>;
export type Configuration = Readonly<Record<string, unknown>>;

export interface PolicyValues {
  readonly name: string;
  readonly origin: 'catalogue' | 'repository';
  /** Folder of the catalogue. */
  readonly folder: string;
  readonly source: SourceValues;
  /** Of a policy of the catalogue. */
  readonly configuration: Configuration;
  /** Of a policy in a repository, as JSON. */
  readonly configurationText: string;
}

export const emptyPolicy: PolicyValues = {
  name: '',
  origin: 'catalogue',
  folder: '',
  source: emptySource,
  configuration: {},
  configurationText: '',
};

/** What a policy has, as the form shows it. */
export function policyValues(policy: ApprovalPolicy): PolicyValues {
  const isCatalogued = policy.repository === catalogueRepository;
  const { policyConfiguration: configuration = {} } = policy;
  const hasText = !isCatalogued && Object.keys(configuration).length > 0;
  const source = { ...sourceOf(policy as unknown as Template), type: emptySource.type };
  return {
    name: policy.name,
    origin: isCatalogued ? 'catalogue' : 'repository',
    folder: isCatalogued ? (policy.path ?? '') : '',
    source: isCatalogued ? emptySource : source,
    configuration: isCatalogued ? configuration : {},
    configurationText: hasText ? JSON.stringify(configuration, null, 2) : '',
  };
}

/** The object that a text is. @returns undefined for anything else; an empty text is an empty object */
function objectOf(text: string): Configuration | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Configuration)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The request that creates or replaces a policy. @param before what is replaced */
export function policyBody(values: PolicyValues, before?: ApprovalPolicy): PolicyBody {
  const { name, origin, folder } = values;
  const given = origin === 'catalogue' ? values.configuration : (objectOf(values.configurationText) ?? {});
  const policyConfiguration = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== ''),
  );
  const configured = Object.keys(policyConfiguration).length > 0 ? { policyConfiguration } : {};
  if (origin === 'catalogue')
    return { name: name.trim(), repository: catalogueRepository, path: folder, ...configured };
  const { type: _, ...source } = sourceBody(values.source);
  const { githubInstallationId, bitbucketClientKey } = before ?? {};
  return {
    ...(githubInstallationId === undefined ? {} : { githubInstallationId }),
    ...(bitbucketClientKey === undefined ? {} : { bitbucketClientKey }),
    ...(source as PolicyBody),
    name: name.trim(),
    ...configured,
  };
}

export type PolicyErrors = Readonly<Record<string, string>>;

/** What is wrong before the service is asked; fields of the source as `source.…`. */
export function policyErrors(values: PolicyValues, policy: CataloguePolicy | undefined): PolicyErrors {
  const { name, origin, folder, source, configuration, configurationText } = values;
  const isCatalogued = origin === 'catalogue';
  const required = isCatalogued
    ? ((policy?.configurationSchema?.required as string[] | undefined) ?? [])
    : [];
  const isMissing = (field: string) => [undefined, ''].includes(configuration[field] as undefined);
  const missing = required.filter(isMissing).map((field) => [`configuration.${field}`, 'This is missing.']);
  return {
    ...(name.trim() === '' ? { name: 'The policy needs a name.' } : {}),
    ...(isCatalogued && folder === '' ? { folder: 'Choose a policy.' } : {}),
    ...Object.fromEntries(missing),
    ...(!isCatalogued && source.repository.trim() === ''
      ? { 'source.repository': 'The address of the repository is missing.' }
      : {}),
    ...(!isCatalogued && objectOf(configurationText) === undefined
      ? { configurationText: 'This must be a JSON object, such as {"limit": 3}.' }
      : {}),
  };
}

/** The field of the form that a refusal names; undefined: none. */
export function policyField(field: string, { origin }: PolicyValues): string | undefined {
  const [first = '', second] = field.split('.');
  if (first === 'policyConfiguration')
    return origin === 'repository' ? 'configurationText' : second && `configuration.${second}`;
  if (first === 'name') return 'name';
  if (origin === 'catalogue') return first === 'path' ? 'folder' : undefined;
  if (first === 'sshKeys') return 'source.sshKeyId';
  return first in emptySource ? `source.${first}` : undefined;
}
