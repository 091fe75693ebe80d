/** The configuration of environment discovery as its form has it, and the request that it becomes. */
import type { EnvironmentPlacement, Removal, WorkspaceNaming } from '#contract/discovery/choices.ts';
import type { SetDiscoveryBody } from '#contract/discovery/operations.ts';
import { settingsOf } from '#contract/discovery/setting-names.ts';
import type { Discovery } from '#contract/discovery/shapes.ts';
import { noRetry, type RetryValues, retryBody, retryValues } from '../../../forms/source/retry-values.ts';
import {
  emptySource,
  forges,
  type SourceValues,
  sourceBody,
  sourceErrors,
  sourceOf,
} from '../../../forms/source/source-values.ts';

/** A glob in one repository, or discovery files in any that a regular expression names. */
export type DiscoveryKind = 'glob' | 'files';

export interface DiscoveryValues {
  readonly kind: DiscoveryKind;
  readonly source: SourceValues;
  readonly globPattern: string;
  readonly rootPath: string;
  readonly environmentPlacement: EnvironmentPlacement;
  readonly workspaceNaming: WorkspaceNaming;
  readonly onRemoval: Removal;
  /** As it was typed. */
  readonly removalLimitPercent: number | string;
  readonly autoDeployByCustomGlob: string;
  readonly createNewEnvironmentsFromPullRequests: boolean;
  readonly repositoryRegex: string;
  readonly onDeploy: RetryValues;
  readonly onDestroy: RetryValues;
}

export const emptyDiscovery: DiscoveryValues = {
  kind: 'glob',
  source: { ...emptySource, type: 'opentofu' },
  globPattern: '',
  rootPath: '',
  environmentPlacement: 'topProject',
  workspaceNaming: 'default',
  onRemoval: 'flag',
  removalLimitPercent: 20,
  autoDeployByCustomGlob: '',
  createNewEnvironmentsFromPullRequests: false,
  repositoryRegex: '',
  onDeploy: noRetry,
  onDestroy: noRetry,
};

/** Repository and tool of a configuration; discovery files have neither. */
export function discoverySource(discovery: Discovery): SourceValues {
  return sourceOf({ ...discovery, type: discovery.type ?? emptyDiscovery.source.type });
}

/** Values of a configuration, as the form shows them. */
export function discoveryValues(discovery: Discovery): DiscoveryValues {
  const isGlob = discovery.discoveryFileConfiguration === undefined;
  const empty = emptyDiscovery;
  return {
    kind: isGlob ? 'glob' : 'files',
    source: isGlob ? discoverySource(discovery) : empty.source,
    globPattern: discovery.globPattern ?? '',
    rootPath: discovery.rootPath ?? '',
    environmentPlacement: discovery.environmentPlacement ?? empty.environmentPlacement,
    workspaceNaming: discovery.workspaceNaming ?? empty.workspaceNaming,
    onRemoval: discovery.onRemoval,
    removalLimitPercent: discovery.removalLimitPercent,
    autoDeployByCustomGlob: discovery.autoDeployByCustomGlob ?? '',
    createNewEnvironmentsFromPullRequests: discovery.createNewEnvironmentsFromPullRequests ?? false,
    repositoryRegex: discovery.discoveryFileConfiguration?.repositoryRegex ?? '',
    onDeploy: retryValues(discovery.retry?.onDeploy),
    onDestroy: retryValues(discovery.retry?.onDestroy),
  };
}

/** Settings that the form has: all others are sent back as they were. */
const formSettings: readonly string[] = [
  ...Object.keys(emptySource),
  ...Object.keys(emptyDiscovery),
  ...Object.keys(forges),
  ...['sshKeys', 'tokenName', 'retry', 'discoveryFileConfiguration'],
];

function otherSettings(before: Discovery | undefined): SetDiscoveryBody {
  if (before === undefined) return {};
  return Object.fromEntries(
    Object.entries(settingsOf(before)).filter(([name]) => !formSettings.includes(name)),
  );
}

/** Whether the form shows the limit: nothing else than archiving and destroying is asked about. */
const hasLimit = ({ kind, onRemoval }: DiscoveryValues) => kind === 'glob' && onRemoval !== 'flag';

function isLimit(percent: number | string): boolean {
  const limit = Number(percent);
  return String(percent).trim() !== '' && Number.isInteger(limit) && limit >= 0 && limit <= 100;
}

/** The request that stores or previews a configuration. @param before what is replaced */
export function discoveryBody(values: DiscoveryValues, before?: Discovery): SetDiscoveryBody {
  const { kind, source, rootPath, autoDeployByCustomGlob } = values;
  const { createNewEnvironmentsFromPullRequests, onRemoval } = values;
  const common = {
    ...otherSettings(before),
    retry: retryBody(values),
    onRemoval,
    // An unfinished value of a field that is hidden now is not sent.
    removalLimitPercent: Number(
      isLimit(values.removalLimitPercent) ? values.removalLimitPercent : emptyDiscovery.removalLimitPercent,
    ),
    ...(createNewEnvironmentsFromPullRequests ? { createNewEnvironmentsFromPullRequests } : {}),
  };
  if (kind === 'files')
    return { ...common, discoveryFileConfiguration: { repositoryRegex: values.repositoryRegex.trim() } };
  return {
    ...common,
    ...(sourceBody(source) as SetDiscoveryBody),
    globPattern: values.globPattern.trim(),
    ...(rootPath.trim() === '' ? {} : { rootPath: rootPath.trim() }),
    environmentPlacement: values.environmentPlacement,
    workspaceNaming: values.workspaceNaming,
    ...(autoDeployByCustomGlob.trim() === ''
      ? {}
      : { autoDeployByCustomGlob: autoDeployByCustomGlob.trim() }),
  };
}

export type DiscoveryErrors = Readonly<Record<string, string>>;

/** Problems found before the request; fields of the source as `source.…`. */
export function discoveryErrors(values: DiscoveryValues): DiscoveryErrors {
  const { kind, globPattern, repositoryRegex, removalLimitPercent } = values;
  if (kind === 'files')
    return repositoryRegex.trim() === '' ? { repositoryRegex: 'The repositories are required.' } : {};
  const source = Object.entries(sourceErrors(values.source, false));
  return {
    ...Object.fromEntries(source.map(([field, text]) => [`source.${field}`, text])),
    ...(globPattern.trim() === '' ? { globPattern: 'The files are required.' } : {}),
    ...(hasLimit(values) && !isLimit(removalLimitPercent)
      ? { removalLimitPercent: 'A whole number from 0 to 100.' }
      : {}),
  };
}

/** The field of the form that a refusal names; undefined: none. */
export function discoveryField(field: string): string | undefined {
  const [first = '', second = ''] = field.split('.');
  if (first === 'retry') return second || undefined;
  if (first === 'sshKeys') return 'source.sshKeyId';
  if (first === 'discoveryFileConfiguration') return 'repositoryRegex';
  if (first in emptySource) return `source.${first}`;
  return first in emptyDiscovery ? first : undefined;
}
