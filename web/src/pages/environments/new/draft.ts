/** Draft of a new environment, kept in the tab until it is created. */

import type { CallInput } from '#contract/client/client.ts';
import { namespaceRefusal } from '#contract/templates/setting-rules.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import {
  emptySource,
  type SourceValues,
  sourceBody,
  sourceErrors,
} from '../../../forms/source/source-values.ts';
import { validateName } from '../../../forms/validate-name.ts';
import type { VariableFormRow } from '../../../forms/variables/rows.ts';

export type FromTemplateBody = CallInput<'createEnvironment'>['body'];
export type WithoutTemplateBody = CallInput<'createEnvironmentWithoutTemplate'>['body'];

const lifetimes = ['default', 'hours', 'date', 'infinite'] as const;

export interface Draft {
  readonly from: 'template' | 'repository';
  readonly projectId: string;
  readonly templateId: string;
  /** Instead of that of the template; empty: that of the template. */
  readonly templateRevision: string;
  readonly source: SourceValues;
  readonly name: string;
  readonly description: string;
  readonly workspaceName: string;
  /** null: as the policy of the project says. */
  readonly requiresApproval: boolean | null;
  readonly lifetime: (typeof lifetimes)[number];
  readonly hours: string;
  /** Local date and time, as the input has it. */
  readonly date: string;
  readonly deployCron: string;
  readonly destroyCron: string;
  readonly driftCron: string;
  readonly tags: readonly string[];
  readonly k8sNamespace: string;
  readonly terragruntWorkingDirectory: string;
  readonly isRemoteBackend: boolean;
  readonly isDeployed: boolean;
  readonly comment: string;
  /** The variables that were changed or added, as the editor has them. */
  readonly edits: readonly VariableFormRow[];
  readonly setIds: readonly string[];
}

export const emptyDraft: Draft = {
  from: 'template',
  projectId: '',
  templateId: '',
  templateRevision: '',
  source: emptySource,
  name: '',
  description: '',
  workspaceName: '',
  requiresApproval: null,
  lifetime: 'default',
  hours: '12',
  date: '',
  deployCron: '',
  destroyCron: '',
  driftCron: '',
  tags: [],
  k8sNamespace: '',
  terragruntWorkingDirectory: '',
  isRemoteBackend: false,
  isDeployed: true,
  comment: '',
  edits: [],
  setIds: [],
};

const storageKey = 'envarium.new-environment';

/** Keeps a draft for a reload. Values of sensitive variables are not kept: they have to be typed again. */
export function keepDraft(draft: Draft): void {
  const edits = draft.edits.flatMap((row) => {
    if (!row.isSensitive) return [row];
    return row.before === undefined ? [{ ...row, value: '' }] : [];
  });
  sessionStorage.setItem(storageKey, JSON.stringify({ ...draft, edits }));
}

/** Draft from before a reload; null: none. */
export function keptDraft(): Draft | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Partial<Draft> | null;
    if (kept === null) return null;
    return { ...emptyDraft, ...kept, source: { ...emptySource, ...kept.source } };
  } catch {
    return null;
  }
}

/** Nothing is kept any longer. */
export function dropDraft(): void {
  sessionStorage.removeItem(storageKey);
}

/** Whether a draft has anything that a person entered. */
export function isTouched(draft: Draft): boolean {
  const plain = (each: Draft) => JSON.stringify({ ...each, projectId: '', templateId: '' });
  return plain(draft) !== plain(emptyDraft);
}

function ttlOf({ lifetime, hours, date }: Draft): FromTemplateBody['ttl'] {
  if (lifetime === 'hours') return { type: 'HOURS', value: hours.trim() };
  if (lifetime === 'infinite') return { type: 'INFINITE' };
  if (lifetime === 'date') {
    const time = new Date(date);
    return { type: 'DATE', value: Number.isNaN(time.getTime()) ? date : time.toISOString() };
  }
  return undefined;
}

const optionalTexts = ['description', 'workspaceName'] as const;

/** Common fields of both requests. */
function commonBody(draft: Draft, type: string, changes: readonly VariableChange[]) {
  const texts = optionalTexts.flatMap((name) =>
    draft[name].trim() === '' ? [] : [[name, draft[name].trim()]],
  );
  const ttl = ttlOf(draft);
  return {
    name: draft.name.trim(),
    projectId: draft.projectId,
    ...(draft.requiresApproval === null ? {} : { requiresApproval: draft.requiresApproval }),
    ...(Object.fromEntries(texts) as { description?: string; workspaceName?: string }),
    ...(ttl ? { ttl } : {}),
    ...(draft.tags.length > 0 ? { tags: [...draft.tags] } : {}),
    ...(draft.driftCron.trim() === ''
      ? {}
      : { driftDetectionRequest: { enabled: true, cron: draft.driftCron.trim() } }),
    ...(['k8s', 'helm'].includes(type) && draft.k8sNamespace !== ''
      ? { k8sNamespace: draft.k8sNamespace }
      : {}),
    ...(type === 'terragrunt' && draft.terragruntWorkingDirectory !== ''
      ? { terragruntWorkingDirectory: draft.terragruntWorkingDirectory }
      : {}),
    ...(draft.isRemoteBackend ? { isRemoteBackend: true } : {}),
    ...(draft.isDeployed ? {} : { preventAutoDeploy: true }),
    ...(changes.length > 0 ? { configurationChanges: [...changes] } : {}),
    ...(draft.setIds.length > 0 ? { configurationSetChanges: { assign: [...draft.setIds] } } : {}),
  };
}

/** The request that creates an environment from a template. @param type of the template */
export function templateBody(
  draft: Draft,
  type: string,
  changes: readonly VariableChange[],
): FromTemplateBody {
  return {
    ...commonBody(draft, type, changes),
    deployRequest: {
      blueprintId: draft.templateId,
      ...(draft.templateRevision.trim() === '' ? {} : { blueprintRevision: draft.templateRevision.trim() }),
      ...(draft.comment.trim() === '' ? {} : { comment: draft.comment.trim() }),
    },
  };
}

/** The request that creates an environment from a repository. */
export function repositoryBody(
  draft: Draft,
  organizationId: string,
  changes: readonly VariableChange[],
): WithoutTemplateBody {
  return {
    ...commonBody(draft, draft.source.type, changes),
    ...(sourceBody(draft.source) as Pick<WithoutTemplateBody, 'repository' | 'type'>),
    organizationId,
    ...(draft.comment.trim() === '' ? {} : { deployRequest: { comment: draft.comment.trim() } }),
  };
}

/** The schedules of deploys and destroys, which have a request of their own; null: there are none. */
export function scheduleBody({
  deployCron,
  destroyCron,
}: Draft): CallInput<'updateEnvironmentSchedule'>['body'] | null {
  const deploy = deployCron.trim();
  const destroy = destroyCron.trim();
  if (deploy === '' && destroy === '') return null;
  return {
    ...(deploy === '' ? {} : { deploy: { cron: deploy, enabled: true } }),
    ...(destroy === '' ? {} : { destroy: { cron: destroy, enabled: true } }),
  };
}

/** Messages by field: names of the draft, and `source.…`. */
export type DraftErrors = Readonly<Record<string, string>>;

/** Problems of the source of the code. */
export function sourceStepErrors(draft: Draft): DraftErrors {
  const project: DraftErrors = draft.projectId === '' ? { projectId: 'Choose the project.' } : {};
  if (draft.from === 'template')
    return { ...project, ...(draft.templateId === '' ? { templateId: 'Choose a template.' } : {}) };
  const wrong = Object.entries(sourceErrors(draft.source, false));
  return { ...project, ...Object.fromEntries(wrong.map(([field, text]) => [`source.${field}`, text])) };
}

const cronFields = ['deployCron', 'destroyCron', 'driftCron'] as const;

function lifetimeErrors({ lifetime, hours, date }: Draft, now: number): DraftErrors {
  if (lifetime === 'hours' && !/^[1-9]\d{0,5}$/.test(hours.trim()))
    return { hours: 'A whole number of hours, at least 1.' };
  if (lifetime !== 'date') return {};
  const time = Date.parse(date);
  if (Number.isNaN(time)) return { date: 'Choose a day and a time.' };
  return time <= now ? { date: 'This time has passed.' } : {};
}

/** Problems of the settings. @param type of the tool @param now milliseconds since 1970 */
export function settingsStepErrors(draft: Draft, type: string, now: number): DraftErrors {
  const crons = cronFields.filter(
    (name) => ![0, 5].includes(draft[name].trim().split(/\s+/).filter(Boolean).length),
  );
  const namespace = draft.k8sNamespace === '' ? null : namespaceRefusal(draft.k8sNamespace);
  const nameProblem = validateName(draft.name);
  return {
    ...(nameProblem === null ? {} : { name: nameProblem }),
    ...(draft.name.length > 255 ? { name: 'At most 255 characters.' } : {}),
    ...(draft.workspaceName === '' || /^[A-Za-z0-9_][A-Za-z0-9._~$&+=:@-]{0,89}$/.test(draft.workspaceName)
      ? {}
      : { workspaceName: 'At most 90 letters, digits and . _ ~ $ & + = : @ -, without spaces.' }),
    ...(['k8s', 'helm'].includes(type) && namespace !== null ? { k8sNamespace: `This ${namespace}.` } : {}),
    ...lifetimeErrors(draft, now),
    ...Object.fromEntries(
      crons.map((name) => [name, 'Five fields: minute, hour, day of month, month, day of week.']),
    ),
  };
}

const requestFields: Readonly<Record<string, string>> = {
  name: 'name',
  projectId: 'projectId',
  description: 'description',
  workspaceName: 'workspaceName',
  requiresApproval: 'requiresApproval',
  k8sNamespace: 'k8sNamespace',
  terragruntWorkingDirectory: 'terragruntWorkingDirectory',
  isRemoteBackend: 'isRemoteBackend',
  tags: 'tags',
  'driftDetectionRequest.cron': 'driftCron',
  'deployRequest.blueprintId': 'templateId',
  'deployRequest.blueprintRevision': 'templateRevision',
  'deployRequest.comment': 'comment',
  sshKeys: 'source.sshKeyId',
  configurationSetChanges: 'setIds',
};

/** The field of the draft that a refusal names, such as `ttl.value`; undefined: none. */
export function draftField(field: string, draft: Draft): string | undefined {
  const [first = ''] = field.split('.');
  if (first === 'ttl') return draft.lifetime === 'date' ? 'date' : 'hours';
  if (first === 'configurationChanges') return 'edits';
  if (first in draft.source) return `source.${first}`;
  return requestFields[field] ?? Object.entries(requestFields).find(([name]) => field.startsWith(name))?.[1];
}

/** The step of a field: 0 the code, 1 the settings, 2 the variables. */
export function stepOf(field: string): 0 | 1 | 2 {
  if (field === 'edits' || field === 'setIds') return 2;
  if (field.startsWith('source.') || ['projectId', 'templateId', 'templateRevision'].includes(field))
    return 0;
  return 1;
}
