/** A template as its form has it, and the requests that it becomes. */

import type { CallInput } from '#contract/client/client.ts';
import { templateSettingNames } from '#contract/templates/setting-names.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { noRetry, type RetryValues, retryBody, retryValues } from '../../forms/source/retry-values.ts';
import {
  emptySource,
  type SourceValues,
  sourceBody,
  sourceErrors,
  sourceOf,
} from '../../forms/source/source-values.ts';
import { validateName } from '../../forms/validate-name.ts';

export type TemplateBody = CallInput<'updateTemplate'>['body'] & { readonly name: string };

export interface TemplateValues {
  readonly name: string;
  readonly description: string;
  readonly source: SourceValues;
  readonly onDeploy: RetryValues;
  readonly onDestroy: RetryValues;
  readonly projectIds: readonly string[];
  /** The project that it is created in; empty: the organization. */
  readonly homeId: string;
  readonly tagPrefix: string;
  readonly runTestsOnPullRequest: boolean;
}

export const emptyTemplate: TemplateValues = {
  name: '',
  description: '',
  source: emptySource,
  onDeploy: noRetry,
  onDestroy: noRetry,
  projectIds: [],
  homeId: '',
  tagPrefix: '',
  runTestsOnPullRequest: false,
};

/** Values of a template, as the form shows them. */
export function valuesOf(template: Template): TemplateValues {
  return {
    name: template.name,
    description: template.description ?? '',
    source: sourceOf(template),
    onDeploy: retryValues(template.retry?.onDeploy),
    onDestroy: retryValues(template.retry?.onDestroy),
    projectIds: template.projectIds ?? [],
    homeId: template.creationScope === 'PROJECT' ? template.creationScopeId : '',
    tagPrefix: template.tagPrefix ?? '',
    runTestsOnPullRequest: template.runTestsOnPullRequest ?? false,
  };
}

/** Settings that the form does not have: a change sends them back as they were. */
const formSettings: readonly string[] = [
  ...Object.keys(emptySource),
  ...['sshKeys', 'tokenName', 'retry', 'description', 'tagPrefix', 'runTestsOnPullRequest'],
  ...['isGitLab', 'isGitLabEnterprise', 'isGitHubEnterprise', 'isBitbucketServer', 'isAzureDevOps'],
];

function otherSettings(before: Template | undefined): Partial<TemplateBody> {
  if (before === undefined) return {};
  return Object.fromEntries(
    templateSettingNames.flatMap((name) =>
      formSettings.includes(name) || before[name] === undefined ? [] : [[name, before[name]]],
    ),
  );
}

/** The request that creates or replaces a template. @param before what is replaced */
export function templateBody(values: TemplateValues, before?: Template): TemplateBody {
  return {
    ...otherSettings(before),
    ...sourceBody(values.source),
    name: values.name.trim(),
    ...(values.description.trim() === '' ? {} : { description: values.description.trim() }),
    retry: retryBody(values),
    projectIds: [...values.projectIds],
    ...(values.tagPrefix.trim() === '' ? {} : { tagPrefix: values.tagPrefix.trim() }),
    ...(values.runTestsOnPullRequest ? { runTestsOnPullRequest: true } : {}),
    ...(before === undefined && values.homeId !== ''
      ? { creationScope: 'PROJECT', creationScopeId: values.homeId }
      : {}),
  };
}

export type TemplateErrors = Readonly<Record<string, string>>;

/** Problems found before the request; fields of the source as `source.…`. */
export function templateErrors(values: TemplateValues): TemplateErrors {
  const source = Object.entries(sourceErrors(values.source, true));
  const nameProblem = validateName(values.name);
  return {
    ...(nameProblem === null ? {} : { name: nameProblem }),
    ...Object.fromEntries(source.map(([field, text]) => [`source.${field}`, text])),
  };
}

/** The field of the form that a refusal names; undefined: none. */
export function templateField(field: string): string | undefined {
  const [first = '', second = ''] = field.split('.');
  if (first === 'retry') return second || undefined;
  if (first === 'sshKeys') return 'source.sshKeyId';
  if (first in emptySource) return `source.${first}`;
  if (first === 'creationScopeId') return 'homeId';
  return first in emptyTemplate ? first : undefined;
}
