/** Content of an entry of a discovery file, as it is stored for the scan that acts on it. */
import type { UpdateEnvironmentBody } from '#contract/environments/create-environment.ts';
import type { Context } from '../../../framework/context.ts';
import type { FolderKey, FolderRow } from '../../../rows/discovery/folder-store.ts';
import type { FileEnvironment } from './discovery-file.ts';
import type { FileVariable } from './parse-variable-files.ts';

/** Settings of an environment that an entry may contain. */
export const entrySettingNames = [
  'requiresApproval',
  'isRemoteBackend',
  'continuousDeployment',
  'autoDeployOnPathChangesOnly',
  'autoDeployByCustomGlob',
  'pullRequestPlanDeployments',
  'vcsPrCommentsEnabled',
  'vcsCommandsAlias',
] as const satisfies readonly (keyof FileEnvironment & keyof UpdateEnvironmentBody)[];

/** Only settings that the file contains. */
export type EntrySettings = Pick<FileEnvironment, (typeof entrySettingNames)[number]>;

export interface EntryContent {
  readonly templateId: string;
  readonly revision?: string;
  readonly workspaceName?: string;
  readonly driftDetectionCron?: string;
  readonly settings: EntrySettings;
  readonly variables: readonly FileVariable[];
}

function association({ project_id, repository, folder }: FolderKey) {
  const row = JSON.stringify([project_id, repository, folder]);
  return { table: 'discovery_folder', row, field: 'sealed_entry' };
}

/** Seals an entry for its row: variable files may contain secrets. */
export function sealEntry(context: Pick<Context, 'sealer'>, key: FolderKey, content: EntryContent): Buffer {
  return context.sealer.seal(JSON.stringify(content), association(key));
}

/** @returns undefined for a row without one */
export function openEntry(context: Pick<Context, 'sealer'>, row: FolderRow): EntryContent | undefined {
  if (row.sealed_entry === null) return undefined;
  return JSON.parse(context.sealer.open(row.sealed_entry, association(row)).toString('utf8')) as EntryContent;
}
