/** Creates the environment of an entry, takes in one that exists, or changes the one that it manages. */
import type { CreateFromTemplateBody } from '#contract/environments/create-environment.ts';
import { operations } from '#contract/operations.ts';
import { rightsOf } from '#contract/schema/operation.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import type { ActorContext } from '../../framework/context.ts';
import { conflict } from '../../ground/errors.ts';
import { applyVariableChanges } from '../../inputs/variables/apply-variable-changes.ts';
import { environmentHome } from '../../inputs/variables/levels.ts';
import { type FolderRow, foldersOfEnvironments, updateFolder } from '../../rows/discovery/folder-store.ts';
import { countScanned } from '../../rows/discovery/scan-store.ts';
import {
  activeEnvironmentsNamed,
  type EnvironmentRow,
  type LockedEnvironment,
  updateEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { getSchedule } from '../../rows/schedules/schedule-store.ts';
import { listVariablesOf, lockScope } from '../../rows/variables/variable-store.ts';
import { deployEnvironment } from '../../runs/deployments/deploy-environment.ts';
import { createEnvironmentFromTemplate } from '../../runs/environments/create-environment.ts';
import { updateEnvironment } from '../../runs/environments/update-environment.ts';
import { updateDriftSchedule } from '../../runs/schedules/update-schedule.ts';
import { requireAuthorRights } from './author-rights.ts';
import { discoveryFileName } from './discovery-file/discovery-file.ts';
import { type EntryContent, openEntry } from './discovery-file/entry-content.ts';
import {
  type EntryDifferences,
  entryConflict,
  entryDifferences,
  takeInRefusal,
  variableChangeOf,
} from './discovery-file/entry-differences.ts';
import type { ScanWork } from './scan-work.ts';

function contentOf(context: ActorContext, row: FolderRow): EntryContent {
  const content = openEntry(context, row);
  if (!content) throw new Error(`The entry ${row.folder} of ${row.repository} was not stored`);
  return content;
}

function commentOf({ repository, folder }: FolderRow): string {
  return `From ${discoveryFileName} of ${repository}, entry ${folder}`;
}

/** The request that creates the environment. */
function bodyOf(row: FolderRow, content: EntryContent, projectId: string): CreateFromTemplateBody {
  const { templateId, revision, workspaceName, driftDetectionCron: cron, settings, variables } = content;
  return {
    ...settings,
    name: row.environment_name ?? row.folder,
    projectId,
    ...(workspaceName === undefined ? {} : { workspaceName }),
    ...(cron === undefined ? {} : { driftDetectionRequest: { enabled: true, cron } }),
    configurationChanges: variables.map(variableChangeOf),
    deployRequest: {
      deploymentType: 'deploy',
      blueprintId: templateId,
      ...(revision === undefined ? {} : { blueprintRevision: revision }),
      comment: commentOf(row),
    },
  };
}

/** Changes of the code or its variables are deployed where pushes are. */
async function change(
  context: ActorContext,
  row: FolderRow,
  environment: LockedEnvironment,
  differences: EntryDifferences,
): Promise<void> {
  const { settings, variables, revision, driftDetectionCron: cron } = differences;
  requireAuthorRights(context, inEnvironment(environment), rightsOf(operations.updateEnvironment));
  const project = await getProjectRow(context.db, environment.project_id);
  const home = environmentHome(environment, project?.hierarchy ?? environment.project_id);
  await applyVariableChanges(
    context,
    home,
    variables,
    variables.map(({ name = '' }) => `variableFiles.${name}`),
  );
  if (cron !== undefined) await updateDriftSchedule(context, environment.id, { enabled: true, cron });
  if (Object.keys(settings).length > 0) await updateEnvironment(context, environment.id, settings);
  if (revision !== undefined)
    await updateEnvironmentRow(context.db, environment, {
      template_revision: revision,
      updated_at: context.now(),
    });
  const isDeployed = settings.continuousDeployment ?? environment.continuous_deployment;
  if (isDeployed && (variables.length > 0 || revision !== undefined))
    await deployEnvironment(context, environment.id, { deploymentType: 'deploy', comment: commentOf(row) });
}

/** Makes the environment what the entry says. */
async function follow(
  context: ActorContext,
  row: FolderRow,
  content: EntryContent,
  environmentId: string,
): Promise<void> {
  const environment = await requireEnvironment(context, environmentId);
  const refused = entryConflict(content, row.environment_project_id, environment);
  if (refused !== null) throw conflict(refused);
  const scope = { scope: 'ENVIRONMENT', scopeId: environment.id } as const;
  await lockScope(context.db, scope);
  const differences = entryDifferences(context, row, content, {
    environment,
    variables: await listVariablesOf(context.db, [scope]),
    drift: await getSchedule(context.db, environment.id, 'driftDetection'),
  });
  if (differences.isAny) await change(context, row, environment, differences);
  await updateFolder(context.db, row, {
    status: 'MANAGED',
    reason: null,
    environment_id: environment.id,
    variable_names: content.variables.map(({ name }) => name),
  });
}

/** @throws Refusal 409 for an environment that has the name and cannot be taken in */
async function takenIn(context: ActorContext, content: EntryContent, found: EnvironmentRow): Promise<string> {
  const holders = await foldersOfEnvironments(context.db, [found.id]);
  const refused = takeInRefusal(content, found, holders.length > 0);
  if (refused !== null) throw conflict(refused);
  return found.id;
}

/** @throws Refusal where the environment cannot be created, or taken in */
export async function createOfEntry(context: ActorContext, work: ScanWork, row: FolderRow): Promise<void> {
  const content = contentOf(context, row);
  const projectId = row.environment_project_id ?? row.project_id;
  const name = row.environment_name ?? row.folder;
  // Others may have created one since the plan was made.
  const [found] = await activeEnvironmentsNamed(context.db, [projectId], [name]);
  if (found) {
    requireAuthorRights(context, inEnvironment(found), rightsOf(operations.updateEnvironment));
    return follow(context, row, content, await takenIn(context, content, found));
  }
  const { organizationId } = work.rule.place;
  const place = { organizationId, projectId, environmentId: null };
  requireAuthorRights(context, place, rightsOf(operations.createEnvironment));
  const made = await createEnvironmentFromTemplate(context, bodyOf(row, content, projectId), organizationId);
  await updateFolder(context.db, row, {
    status: 'MANAGED',
    reason: null,
    environment_id: made.id,
    variable_names: content.variables.map((each) => each.name),
  });
  await countScanned(context.db, work.scan.id, 'created');
}

/** @throws Refusal where the environment cannot be changed */
export async function changeOfEntry(context: ActorContext, row: FolderRow): Promise<void> {
  await follow(context, row, contentOf(context, row), row.environment_id ?? '');
}
