/** Sets and deletes the configuration of environment discovery. */
import type { SetDiscoveryBody } from '#contract/discovery/operations.ts';
import type { Discovery } from '#contract/discovery/shapes.ts';
import { auditedTemplate } from '../../code/templates/template-view.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { notFound } from '../../ground/errors.ts';
import {
  type DiscoveryRow,
  deleteDiscoveryRow,
  getDiscovery,
  insertDiscovery,
  lockDiscovery,
  replaceDiscovery,
} from '../../rows/discovery/discovery-store.ts';
import { lockProjectTree, type ProjectRow } from '../../rows/projects/project-store.ts';
import {
  getTemplateRow,
  insertTemplate,
  markTemplateDeleted,
  replaceTemplate,
  type TemplateRow,
} from '../../rows/templates/template-store.ts';
import { checkDiscovery, discoveryView, requireActiveProject } from './configuration.ts';
import { nextPollAfter } from './poll.ts';
import type { CheckedDiscovery } from './scan-reading.ts';
import { startScan } from './start-scan.ts';

/** A configuration with the template that holds its source. */
export interface StoredDiscovery {
  readonly row: DiscoveryRow;
  readonly template: TemplateRow;
}

/** @throws Refusal 404 for a project without one */
export async function requireDiscovery(db: Connection, projectId: string): Promise<StoredDiscovery> {
  const row = await getDiscovery(db, projectId);
  const template = row && (await getTemplateRow(db, row.template_id));
  if (!row || !template) throw notFound('environment discovery of the project', projectId);
  return { row, template };
}

function audited(context: ActorContext, { row, template }: StoredDiscovery): Record<string, unknown> {
  const { projectIds: _, type: _type, ...source } = auditedTemplate(context, template);
  return {
    ...source,
    type: row.type,
    globPattern: row.glob_pattern,
    rootPath: row.root_path,
    environmentPlacement: row.environment_placement,
    workspaceNaming: row.workspace_naming,
    autoDeployByCustomGlob: row.auto_deploy_by_custom_glob,
    createNewEnvironmentsFromPullRequests: row.creates_from_pull_requests,
    repositoryRegex: row.repository_regex,
    onRemoval: row.on_removal,
    removalLimitPercent: row.removal_limit_percent,
  };
}

function nameOf(project: ProjectRow): string {
  return `discovery-of-${project.name}`.slice(0, 255);
}

async function insert(
  context: ActorContext,
  project: ProjectRow,
  { repository, settings, credentials, columns }: CheckedDiscovery,
): Promise<StoredDiscovery> {
  const { userId } = context.actor;
  const now = context.now();
  const template = await insertTemplate(context.db, context, {
    organizationId: project.organization_id,
    projectId: project.id,
    projectIds: [project.id],
    name: nameOf(project),
    type: 'environment-discovery',
    repository,
    isSingleUse: false,
    settings,
    credentials,
    authorId: userId,
  });
  if (!template) throw new Error('The template of an environment discovery was not stored');
  const row = await insertDiscovery(context.db, {
    ...columns,
    project_id: project.id,
    template_id: template.id,
    updated_by: userId,
    created_at: now,
    updated_at: now,
    next_poll_at: nextPollAfter(now),
  });
  return { row, template };
}

async function replace(
  context: ActorContext,
  project: ProjectRow,
  before: StoredDiscovery,
  { columns, ...source }: CheckedDiscovery,
): Promise<StoredDiscovery> {
  const now = context.now();
  // Clients do not send back credentials that no reply shows.
  const isSame = source.repository === before.template.repository;
  const template = await replaceTemplate(context.db, context, before.template, {
    name: nameOf(project),
    type: 'environment-discovery',
    projectIds: [project.id],
    ...source,
    credentials: source.credentials === null && isSame ? undefined : source.credentials,
  });
  if (!template) throw new Error('The template of an environment discovery was not changed');
  const row = await replaceDiscovery(context.db, project.id, {
    ...columns,
    updated_by: context.actor.userId,
    updated_at: now,
    next_poll_at: nextPollAfter(now),
  });
  return { row, template };
}

/**
 * Creates the configuration or replaces it, and starts a scan. Runs in a transaction.
 * @throws Refusal 400, 403, 404 or 409 before anything is written
 */
export async function setDiscovery(
  context: ActorContext,
  projectId: string,
  body: SetDiscoveryBody,
): Promise<Discovery> {
  const project = await requireActiveProject(context, projectId);
  // Of simultaneous first requests, the second one replaces.
  await lockProjectTree(context.db, project.organization_id);
  const existing = await lockDiscovery(context.db, projectId);
  const checked = await checkDiscovery(context, body, project, existing);
  const template = existing && (await getTemplateRow(context.db, existing.template_id));
  const before = existing && template && { row: existing, template };
  const after = before
    ? await replace(context, project, before, checked)
    : await insert(context, project, checked);
  await recordAudit(context, {
    organizationId: project.organization_id,
    projectId: project.id,
    action: 'discovery.set',
    entityId: after.template.id,
    details: { name: after.template.name },
    ...changesOf(before ? audited(context, before) : null, audited(context, after)),
  });
  await startScan(context, after.row, 'saved');
  return discoveryView(context.db, after.row, after.template);
}

/** Environments that were found are kept, and so is what is known of their folders. @throws Refusal 404 */
export async function deleteDiscovery(context: ActorContext, projectId: string): Promise<{ id: string }> {
  await lockDiscovery(context.db, projectId);
  const before = await requireDiscovery(context.db, projectId);
  const { template } = before;
  await deleteDiscoveryRow(context.db, projectId);
  await markTemplateDeleted(context.db, template, context.now());
  await recordAudit(context, {
    organizationId: template.organization_id,
    projectId,
    action: 'discovery.deleted',
    entityId: template.id,
    details: { name: template.name },
    ...changesOf(audited(context, before), null),
  });
  return { id: template.id };
}
