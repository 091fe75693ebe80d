/** Decisions of people that scans wait for: the removal of many environments, and folders that were renamed. */
import type { DiscoveryScan, DiscoveryState } from '#contract/discovery/shapes.ts';
import { UnreadableRepository } from '../../code/repositories/git/fetch-commit.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, notFound, Refusal } from '../../ground/errors.ts';
import { lockDiscovery } from '../../rows/discovery/discovery-store.ts';
import { deleteFolder, type FolderRow, lockFolder, updateFolder } from '../../rows/discovery/folder-store.ts';
import { lockScan, updateScan } from '../../rows/discovery/scan-store.ts';
import { environmentsOfProjects, updateEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { getTemplateRow, updateTemplateSettings } from '../../rows/templates/template-store.ts';
import { requireDiscovery, type StoredDiscovery } from './change-discovery.ts';
import { discoveryState } from './discovery-state.ts';
import { markNow } from './read-rule.ts';
import { ruleOf } from './scan-work.ts';
import { scanProject, scanView, startScan } from './start-scan.ts';

/**
 * Folders may have been restored since the scan.
 * @throws Refusal 409 if the repository has changed, 422 if it cannot be read
 */
async function requireUnchangedRepository(context: ActorContext, projectId: string): Promise<void> {
  const { row, template } = await requireDiscovery(context.db, projectId);
  if (row.scanned_commit === null) return;
  const mark = await markNow(context, ruleOf(context, row, template)).catch((error: unknown) => {
    if (error instanceof UnreadableRepository) throw new Refusal('unprocessable', error.message);
    throw error;
  });
  if (mark !== row.scanned_commit)
    throw conflict('The repository has changed since the scan: scan again, and confirm what that finds');
}

/**
 * @throws Refusal 404 for a scan of another project, 409 for one that does not wait or is out of date, 422 if the repository
 *   cannot be read
 */
export async function confirmRemoval(
  context: ActorContext,
  projectId: string,
  scanId: string,
): Promise<DiscoveryScan> {
  await requireUnchangedRepository(context, projectId);
  return inTransaction(context, async (context) => {
    const discovery = await lockDiscovery(context.db, projectId);
    const scan = await lockScan(context.db, scanId);
    if (!scan || scan.project_id !== projectId) throw notFound('scan', scanId);
    if (scan.status !== 'WAITING_FOR_USER')
      throw conflict(`The scan does not wait for a person: it is ${scan.status}`);
    if (discovery?.version !== scan.version)
      throw conflict('The configuration was changed after the scan: scan again first');
    const confirmed = await updateScan(context.db, scanId, { status: 'RUNNING', error: null });
    const { template } = await requireDiscovery(context.db, projectId);
    await recordAudit(context, {
      organizationId: template.organization_id,
      projectId,
      action: 'discovery.removalConfirmed',
      entityId: template.id,
      details: { name: template.name, scanId, onRemoval: discovery.on_removal },
    });
    await promiseEffect(context, scanProject, { scanId });
    return scanView(confirmed ?? scan);
  });
}

/** The environment keeps its state and its workspace; its code comes from the new folder from now on. */
async function follow(
  context: ActorContext,
  { template: { organization_id: organizationId, id } }: StoredDiscovery,
  from: FolderRow,
  to: FolderRow,
): Promise<void> {
  const environment = await requireEnvironment(context, from.environment_id ?? '');
  requireRight(context.actor, inEnvironment(environment), 'EDIT_VCS_ENVIRONMENT', '/body/isSame true');
  const template = await getTemplateRow(context.db, environment.template_id);
  if (!template?.is_single_use)
    throw conflict(
      `Environment "${environment.name}" has a template that others use, too: change its path there, then scan again`,
    );
  const at = context.now();
  await updateTemplateSettings(context.db, template, template.repository, { path: to.folder }, at);
  const name = to.environment_name ?? environment.name;
  const others = await environmentsOfProjects(context.db, [environment.project_id]);
  if (others.some((each) => each.name === name && each.id !== environment.id))
    throw conflict(
      `Environment "${environment.name}" cannot follow: its project has another one named "${name}". Rename that first`,
    );
  await updateEnvironmentRow(context.db, environment, { name, updated_at: at });
  await deleteFolder(context.db, from);
  await updateFolder(context.db, to, {
    status: 'MANAGED',
    reason: null,
    renamed_from: null,
    environment_id: environment.id,
    workspace_name: from.workspace_name,
  });
  await recordAudit(context, {
    organizationId,
    projectId: to.project_id,
    action: 'discovery.folderRenamed',
    entityId: id,
    details: { from: from.folder, to: to.folder, environmentId: environment.id },
  });
}

/**
 * @param isSame whether the environment of the folder that is gone follows
 * @throws Refusal 400 for a folder that does not wait for this, 409 where its environment cannot follow
 */
export async function resolveRename(
  context: ActorContext,
  projectId: string,
  { folder, isSame }: { readonly folder: string; readonly isSame: boolean },
): Promise<DiscoveryState> {
  await inTransaction(context, async (context) => {
    const row = await lockDiscovery(context.db, projectId);
    const stored = await requireDiscovery(context.db, projectId);
    const place = { projectId, repository: stored.template.repository };
    const to = await lockFolder(context.db, place, folder);
    if (!row || to?.status !== 'RENAMED' || to.renamed_from === null)
      throw badField('body.folder', 'must be a folder with the status RENAMED');
    const from = await lockFolder(context.db, place, to.renamed_from);
    if (isSame && !from?.environment_id)
      throw conflict('The environment of the old folder was deleted: answer that this is another one');
    if (isSame && from) await follow(context, stored, from, to);
    // Nothing is taken for the other folder any more.
    else if (from) await updateFolder(context.db, from, { tree_id: '', file_id: '' });
    // Creates what is pending now, and says of the other folder what is true now.
    await startScan(context, row, 'user');
  });
  return discoveryState(context, projectId);
}
