/** Differences between an environment and its entry in a discovery file. Pure, but for opening values. */
import type { UpdateEnvironmentBody } from '#contract/environments/create-environment.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import type { Context } from '../../../framework/context.ts';
import type { FolderRow } from '../../../rows/discovery/folder-store.ts';
import type { EnvironmentRow } from '../../../rows/environments/environment-store.ts';
import type { ScheduleRow } from '../../../rows/schedules/schedule-store.ts';
import { openValue, type VariableRow } from '../../../rows/variables/variable-store.ts';
import { settingColumns } from '../../../runs/environments/update-environment.ts';
import { type EntryContent, entrySettingNames } from './entry-content.ts';
import type { FileVariable } from './parse-variable-files.ts';

/** An environment as it is. */
export interface ManagedEnvironment {
  readonly environment: EnvironmentRow;
  /** Those of the environment itself. */
  readonly variables: readonly VariableRow[];
  readonly drift: ScheduleRow | undefined;
}

export interface EntryDifferences {
  readonly settings: UpdateEnvironmentBody;
  readonly variables: readonly VariableChange[];
  readonly revision?: string;
  readonly driftDetectionCron?: string;
  readonly isAny: boolean;
}

/** A variable of the code, as the service changes variables. */
export function variableChangeOf({ name, value, format }: FileVariable) {
  return { name, value, type: 1 as const, ...(format ? { schema: { format } } : {}) };
}

function variableChanges(
  context: Pick<Context, 'sealer'>,
  row: Pick<FolderRow, 'variable_names'>,
  { variables: wanted }: EntryContent,
  { variables }: ManagedEnvironment,
): VariableChange[] {
  const known = new Map(variables.filter(({ type }) => type === 1).map((each) => [each.name, each]));
  const set = wanted.flatMap((variable): VariableChange[] => {
    const before = known.get(variable.name);
    const isSame =
      before !== undefined &&
      openValue(context, before) === variable.value &&
      (before.schema?.format ?? undefined) === variable.format;
    if (isSame) return [];
    const isFormatLost = variable.format === undefined && before?.schema?.format !== undefined;
    return [{ ...variableChangeOf(variable), ...(isFormatLost ? { clears: ['schema'] as const } : {}) }];
  });
  const names = new Set(wanted.map(({ name }) => name));
  const gone = row.variable_names.filter((name) => !names.has(name) && known.has(name));
  return [...set, ...gone.map((name) => ({ name, type: 1 as const, toDelete: true }))];
}

/**
 * @param row of the entry, with the variables that it has set
 * @returns what has to change so that the environment is as the entry says; what it does not say stays
 */
export function entryDifferences(
  context: Pick<Context, 'sealer'>,
  row: Pick<FolderRow, 'variable_names'> & { readonly environment_name: string | null },
  content: EntryContent,
  facts: ManagedEnvironment,
): EntryDifferences {
  const { environment, drift } = facts;
  const differing = entrySettingNames.filter((name) => {
    const wanted = content.settings[name];
    return wanted !== undefined && wanted !== environment[settingColumns[name]];
  });
  const { environment_name: name } = row;
  const settings = {
    ...(name === null || name === environment.name ? {} : { name }),
    ...Object.fromEntries(differing.map((each) => [each, content.settings[each]])),
  };
  const variables = variableChanges(context, row, content, facts);
  const { revision, driftDetectionCron: cron } = content;
  const isRevised = revision !== undefined && revision !== environment.template_revision;
  const isRescheduled = cron !== undefined && !(drift?.is_enabled === true && drift.cron === cron);
  return {
    settings,
    variables,
    ...(isRevised ? { revision } : {}),
    ...(isRescheduled ? { driftDetectionCron: cron } : {}),
    isAny: Object.keys(settings).length > 0 || variables.length > 0 || isRevised || isRescheduled,
  };
}

/**
 * @param projectId of the entry
 * @returns why an entry cannot change its environment, such as another template; null if it can
 */
export function entryConflict(
  content: EntryContent,
  projectId: string | null,
  environment: EnvironmentRow,
): string | null {
  if (environment.is_archived) return 'Its environment is archived: restore it, then scan again';
  if (environment.project_id !== projectId)
    return 'Its environment is in another project than the entry says: move it, or correct the entry';
  if (environment.template_id !== content.templateId)
    return 'Its environment has another template than the entry says: change it there, or correct the entry';
  const { workspaceName } = content;
  return workspaceName !== undefined && workspaceName !== environment.workspace_name
    ? `Its environment has the workspace ${environment.workspace_name}, which cannot change: correct the entry`
    : null;
}

/**
 * @param isHeld whether discovery manages it already, by another entry or folder
 * @returns why an environment that has the name is not taken in; null if it is
 */
export function takeInRefusal(
  content: EntryContent,
  environment: EnvironmentRow,
  isHeld: boolean,
): string | null {
  const named = `Its project already has an environment named ${JSON.stringify(environment.name)}`;
  if (isHeld) return `${named}, which another entry or folder of discovery manages: use another name`;
  if (environment.template_id !== content.templateId)
    return `${named} with another template: use the same one to take it in, or another name`;
  return content.workspaceName === environment.workspace_name
    ? null
    : `${named}: to take it in, the entry must have workspaceName ${environment.workspace_name}`;
}
