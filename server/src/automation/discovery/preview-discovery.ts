/** Previews of scans: what they would do, without doing it. */
import type { FolderStatus, Removal } from '#contract/discovery/choices.ts';
import type { SetDiscoveryBody } from '#contract/discovery/operations.ts';
import type { DiscoveryPreview, PreviewAction } from '#contract/discovery/shapes.ts';
import { UnreadableRepository } from '../../code/repositories/git/fetch-commit.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import { getDiscovery } from '../../rows/discovery/discovery-store.ts';
import { inProject } from '../../rows/places.ts';
import { getTemplateRow, openCredentials } from '../../rows/templates/template-store.ts';
import { requireDiscovery } from './change-discovery.ts';
import { checkDiscovery, requireActiveProject } from './configuration.ts';
import type { PlannedFolder } from './plan-folders.ts';
import { readRule } from './read-rule.ts';
import { type DiscoveryRule, UnmatchableTree } from './scan-reading.ts';
import { limitOfFirstScan, ruleOf } from './scan-work.ts';

const actions: Readonly<Record<Exclude<FolderStatus, 'REMOVING'>, PreviewAction>> = {
  MANAGED: 'keep',
  PENDING: 'create',
  CHANGED: 'change',
  SKIPPED: 'skip',
  PASSED_OVER: 'passOver',
  MISSING: 'flag',
  REMOVED: 'keep',
  RENAMED: 'askAboutRename',
  DELETED: 'skip',
};

function actionOf({ status, environmentId }: PlannedFolder, onRemoval: Removal): PreviewAction {
  if (status === 'REMOVING') return onRemoval;
  return status === 'PENDING' && environmentId !== null ? 'takeIn' : actions[status];
}

function previewOf(
  planned: PlannedFolder,
  onRemoval: Removal,
  isOfFiles: boolean,
): DiscoveryPreview['folders'][number] {
  return {
    ...(isOfFiles ? { repository: planned.repository } : {}),
    folder: planned.folder,
    file: planned.file,
    action: actionOf(planned, onRemoval),
    ...(planned.reason === null ? {} : { reason: planned.reason }),
    ...(planned.environmentId === null ? {} : { environmentId: planned.environmentId }),
    ...(planned.environmentName === null ? {} : { environmentName: planned.environmentName }),
    ...(planned.environmentProjectId === null ? {} : { environmentProjectId: planned.environmentProjectId }),
    ...(planned.workspaceName === null ? {} : { workspaceName: planned.workspaceName }),
    ...(planned.renamedFrom === null ? {} : { renamedFrom: planned.renamedFrom }),
  };
}

async function sentRule(
  context: ActorContext,
  projectId: string,
  body: SetDiscoveryBody,
): Promise<DiscoveryRule> {
  const project = await requireActiveProject(context, projectId);
  const existing = await getDiscovery(context.db, projectId);
  const checked = await checkDiscovery(context, body, project, existing);
  const stored = existing && (await getTemplateRow(context.db, existing.template_id));
  // Clients do not send back credentials that no reply shows.
  const isSame = stored?.repository === checked.repository;
  const credentials = checked.credentials ?? (isSame ? openCredentials(context, stored) : null);
  const columns = { ...checked.columns, removal_limit_percent: limitOfFirstScan };
  return { ...checked, columns, credentials, place: { organizationId: project.organization_id, projectId } };
}

async function storedRule(context: ActorContext, projectId: string): Promise<DiscoveryRule> {
  const project = await requireActiveProject(context, projectId);
  requireRight(context.actor, inProject(project), 'CREATE_VCS_ENVIRONMENT', 'A preview');
  const { row, template } = await requireDiscovery(context.db, projectId);
  return ruleOf(context, row, template);
}

/**
 * @param body the configuration to preview; without fields, the one that is stored
 * @throws Refusal 400 to 409 as setting it would, 422 for what cannot be read
 */
export async function previewDiscovery(
  context: ActorContext,
  projectId: string,
  body: SetDiscoveryBody,
): Promise<DiscoveryPreview> {
  const isStored = Object.keys(body).length === 0;
  const rule = await (isStored ? storedRule(context, projectId) : sentRule(context, projectId, body));
  try {
    const read = await readRule(context, rule, context.stopping);
    const plan = await read.plan(context);
    const isOfFiles = rule.columns.repository_regex !== null;
    return {
      ...(read.commit === null ? {} : { commitHash: read.commit }),
      files: read.files,
      passedOverCount: read.passedOverCount,
      asksFirst: plan.asksFirst,
      folders: plan.folders.map((each) => previewOf(each, rule.columns.on_removal, isOfFiles)),
    };
  } catch (error) {
    if (error instanceof UnreadableRepository || error instanceof UnmatchableTree)
      throw new Refusal('unprocessable', error.message);
    throw error;
  }
}
