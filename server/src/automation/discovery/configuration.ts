/** The configuration of environment discovery: its checks, and how replies show it. */
import type { DiscoveryType } from '#contract/discovery/choices.ts';
import type { SetDiscoveryBody } from '#contract/discovery/operations.ts';
import type { Discovery } from '#contract/discovery/shapes.ts';
import { normalizeTemplate } from '#contract/templates/template-body.ts';
import { checkPath } from '../../code/templates/check-source.ts';
import { checkTemplate } from '../../code/templates/check-template.ts';
import { splitCredentials } from '../../code/templates/repository-credentials.ts';
import { templateSettings } from '../../code/templates/template-settings.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import type { DiscoveryRow } from '../../rows/discovery/discovery-store.ts';
import { inProject } from '../../rows/places.ts';
import { holdProjectRow, type ProjectRow } from '../../rows/projects/project-store.ts';
import type { TemplateRow } from '../../rows/templates/template-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { regexRefusal } from './list-repositories.ts';
import { globRefusal } from './matching/glob-refusal.ts';
import type { CheckedDiscovery } from './scan-reading.ts';

const defaults = {
  type: 'opentofu',
  environmentPlacement: 'topProject',
  workspaceNaming: 'default',
  onRemoval: 'flag',
  removalLimitPercent: 20,
} as const;

/** Fields that say where folders are found, which a discovery file says itself. */
const globFields = [
  'repository',
  'globPattern',
  'rootPath',
  'environmentPlacement',
  'workspaceNaming',
  'autoDeployByCustomGlob',
] as const satisfies readonly (keyof SetDiscoveryBody)[];

/** @throws Refusal 400 for an id that is not that of the address */
function checkIds(body: SetDiscoveryBody, project: ProjectRow, existing: DiscoveryRow | undefined): void {
  const isOther = (sent: string | undefined, id: string) => Boolean(sent) && sent?.toLowerCase() !== id;
  if (isOther(body.projectId, project.id))
    throw badField('body.projectId', 'must be the project of the path');
  if (isOther(body.organizationId, project.organization_id))
    throw badField('body.organizationId', 'is not the organization of the project');
  if (existing && isOther(body.id, existing.template_id))
    throw badField('body.id', 'must be the id of this configuration, or absent');
}

function checkFiles(body: SetDiscoveryBody): void {
  const sent = globFields.find((field) => body[field]);
  if (sent !== undefined)
    throw badField(`body.${sent}`, 'excludes discoveryFileConfiguration: use a glob or discovery files');
  const refused = regexRefusal(body.discoveryFileConfiguration?.repositoryRegex ?? '');
  if (refused !== null) throw badField('body.discoveryFileConfiguration.repositoryRegex', refused);
}

/** @throws Refusal 400 that names the field */
async function checkGlob(body: SetDiscoveryBody): Promise<void> {
  for (const field of ['repository', 'globPattern'] as const)
    if (!body[field]) throw badField(`body.${field}`, 'is required without a discoveryFileConfiguration');
  const refused = await globRefusal(body.globPattern ?? '');
  if (refused !== null) throw badField('body.globPattern', refused);
  checkPath(body.rootPath, 'body.rootPath');
}

function columnsOf(body: SetDiscoveryBody): CheckedDiscovery['columns'] {
  const isGlob = !body.discoveryFileConfiguration;
  const inGlobMode = <Value>(value: Value) => (isGlob ? value : null);
  return {
    type: inGlobMode(body.type ?? defaults.type),
    glob_pattern: inGlobMode(body.globPattern ?? ''),
    root_path: body.rootPath ?? null,
    environment_placement: inGlobMode(body.environmentPlacement ?? defaults.environmentPlacement),
    workspace_naming: inGlobMode(body.workspaceNaming ?? defaults.workspaceNaming),
    auto_deploy_by_custom_glob: body.autoDeployByCustomGlob ?? null,
    creates_from_pull_requests: body.createNewEnvironmentsFromPullRequests ?? false,
    repository_regex: body.discoveryFileConfiguration?.repositoryRegex ?? null,
    on_removal: body.onRemoval ?? defaults.onRemoval,
    removal_limit_percent: body.removalLimitPercent ?? defaults.removalLimitPercent,
  };
}

/** The project that is configured, locked until the transaction ends. @throws Refusal 404 or 409 */
export async function requireActiveProject(context: ActorContext, projectId: string): Promise<ProjectRow> {
  const project = orNotFound(await holdProjectRow(context.db, projectId), 'project', projectId);
  if (project.is_archived) throw conflict(`Project "${project.name}" is archived: restore it first`);
  return project;
}

/** @throws Refusal 400 or 403 that names the field */
export async function checkDiscovery(
  context: ActorContext,
  body: SetDiscoveryBody,
  project: ProjectRow,
  existing: DiscoveryRow | undefined,
): Promise<CheckedDiscovery> {
  requireRight(context.actor, inProject(project), 'CREATE_VCS_ENVIRONMENT', 'Environment discovery');
  checkIds(body, project, existing);
  const { id: _, projectId: _project, organizationId, discoveryFileConfiguration: file, ...fields } = body;
  if (file) checkFiles(body);
  else await checkGlob(body);
  const type: DiscoveryType = body.type ?? defaults.type;
  const request = normalizeTemplate({
    ...fields,
    name: project.name,
    type,
    repository: body.repository ?? '',
  });
  if (!file)
    await checkTemplate(context, request, {
      organizationId: project.organization_id,
      projectIds: [project.id],
      isSingleUse: true,
    });
  return {
    ...splitCredentials(request.repository),
    settings: templateSettings(request),
    columns: columnsOf(body),
  };
}

/** Only what was sent, and the defaults of what was not: clients compare it with what they sent. */
export async function discoveryView(
  db: Connection,
  row: DiscoveryRow,
  template: TemplateRow,
): Promise<Discovery> {
  const users = await getUsers(db, [row.updated_by]);
  const { retry, ...settings } = template.settings;
  const glob = row.glob_pattern === null ? {} : globView(row);
  return {
    id: template.id,
    projectId: row.project_id,
    organizationId: template.organization_id,
    name: template.name,
    repository: template.repository,
    type: row.type,
    ...glob,
    ...(row.repository_regex === null
      ? {}
      : { discoveryFileConfiguration: { repositoryRegex: row.repository_regex } }),
    createNewEnvironmentsFromPullRequests: row.creates_from_pull_requests,
    ...settings,
    isTerragruntRunAll: settings.isTerragruntRunAll ?? false,
    retry: retry ?? {},
    author: userOf(users, row.updated_by),
    authorId: row.updated_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    projectIds: [row.project_id],
    isDeleted: false,
    isSingleUse: false,
    onRemoval: row.on_removal,
    removalLimitPercent: row.removal_limit_percent,
  };
}

function globView(row: DiscoveryRow): Partial<Discovery> {
  return {
    globPattern: row.glob_pattern ?? '',
    environmentPlacement: row.environment_placement ?? defaults.environmentPlacement,
    workspaceNaming: row.workspace_naming ?? defaults.workspaceNaming,
    ...(row.root_path === null ? {} : { rootPath: row.root_path }),
    ...(row.auto_deploy_by_custom_glob === null
      ? {}
      : { autoDeployByCustomGlob: row.auto_deploy_by_custom_glob }),
  };
}
