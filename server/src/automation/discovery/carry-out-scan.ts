/**
 * Carries out a scan. First it reads the repository and stores in one transaction what is to be done with each folder;
 * then it does that folder by folder, each in a transaction of its own. Whatever dies, the rows say what is left, and no
 * folder becomes two environments: its row is locked while its environment is created.
 */

import { UnreadableRepository } from '../../code/repositories/git/fetch-commit.ts';
import { onBehalf } from '../../framework/access/on-behalf.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { whyUnavailable } from '../../ground/database/unavailable.ts';
import { Refusal } from '../../ground/errors.ts';
import { getDiscovery, lockDiscovery, setScanned } from '../../rows/discovery/discovery-store.ts';
import { forgetFolders, storeFolders } from '../../rows/discovery/folder-store.ts';
import {
  cancelListedScans,
  forgetScans,
  getScan,
  listScans,
  type ScanRow,
  updateScan,
} from '../../rows/discovery/scan-store.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { getTemplateRow } from '../../rows/templates/template-store.ts';
import { actOnFolders } from './act-on-folders.ts';
import { sealEntry } from './discovery-file/entry-content.ts';
import { noticeScan } from './notice-scan.ts';
import type { PlannedFolder, ScanPlan } from './plan-folders.ts';
import { publishScan } from './publish-scan.ts';
import { markNow, readRule } from './read-rule.ts';
import { UnmatchableTree } from './scan-reading.ts';
import { ruleOf, type ScanWork } from './scan-work.ts';

async function finish(
  context: Context,
  scan: ScanRow,
  status: 'SUCCESS' | 'FAILURE' | 'CANCELLED',
  more: Partial<Pick<ScanRow, 'error' | 'is_unchanged' | 'commit_hash'>> = {},
): Promise<void> {
  await inTransaction(context, async (context) => {
    const ended = await updateScan(context.db, scan.id, { status, ...more, finished_at: context.now() });
    await noticeScan(context, ended);
    await forgetScans(context.db, scan.project_id);
    await publishScan(context, scan.project_id);
  });
}

const changed = 'The configuration was changed after the scan had started: a newer scan follows it';

/** @returns the work of a scan, or the reason why there is none */
async function workOf(context: Context, scan: ScanRow): Promise<ScanWork | string> {
  const row = await getDiscovery(context.db, scan.project_id);
  const template = row && (await getTemplateRow(context.db, row.template_id));
  if (!row || !template || row.version !== scan.version) return changed;
  const project = await getProjectRow(context.db, row.project_id);
  if (!project || project.is_archived) return 'The project is archived';
  return { scan, row, template, rule: ruleOf(context, row, template) };
}

/** Whether the repositories are where the last scan of this configuration has found them. */
async function isUnchanged(context: Context, { scan, row, rule }: ScanWork): Promise<boolean> {
  if (scan.is_forced || row.scanned_version !== row.version || row.scanned_commit === null) return false;
  return (await markNow(context, rule)) === row.scanned_commit;
}

function folderRow(context: Context, { rule }: ScanWork, planned: PlannedFolder) {
  const key = {
    project_id: rule.place.projectId,
    kind: rule.columns.repository_regex === null ? ('folder' as const) : ('entry' as const),
    repository: planned.repository,
    folder: planned.folder,
  };
  return {
    ...key,
    file: planned.file,
    file_id: planned.fileId,
    tree_id: planned.treeId,
    status: planned.status,
    reason: planned.reason,
    environment_name: planned.environmentName,
    environment_project_id: planned.environmentProjectId,
    workspace_name: planned.workspaceName,
    renamed_from: planned.renamedFrom,
    sealed_entry: planned.entry && sealEntry(context, key, planned.entry),
  };
}

/** Reads the repository and stores the plan. @returns undefined where the configuration was changed meanwhile */
async function listAll(context: Context, work: ScanWork, signal: AbortSignal): Promise<ScanRow | undefined> {
  const read = await readRule(context, work.rule, signal);
  return inTransaction(context, async (context) => {
    const row = await lockDiscovery(context.db, work.row.project_id);
    if (row?.version !== work.scan.version) return undefined;
    const plan = await read.plan(context);
    const place = { projectId: row.project_id, repository: work.rule.repository };
    await storeFolders(
      context.db,
      plan.folders.map((planned) => folderRow(context, work, planned)),
    );
    await forgetFolders(context.db, place, plan.forgotten);
    const at = context.now();
    const scans = await listScans(context.db, row.project_id);
    const isAsked = scans.some(({ status }) => status === 'WAITING_FOR_USER');
    const why = whyToAsk(work, plan, isAsked);
    const newer = { except: work.scan.id, error: 'A newer scan has read the repository', at };
    await cancelListedScans(context.db, row.project_id, newer);
    await setScanned(context.db, row, read.mark);
    await publishScan(context, row.project_id);
    const listed = await updateScan(context.db, work.scan.id, {
      listed_at: at,
      commit_hash: read.commit,
      files: read.files,
      matched: read.matched,
      failed: plan.folders.filter(({ status }) => status === 'SKIPPED').length,
      passed_over_count: read.passedOverCount,
      ...(why === null ? {} : { status: 'WAITING_FOR_USER', error: askingFirst(work, plan.folders, why) }),
    });
    await noticeScan(context, listed);
    return listed;
  });
}

/** Why a person has to confirm removals, as a part of a sentence; null if none has to. */
function whyToAsk({ rule, row }: ScanWork, plan: ScanPlan, isAsked: boolean): string | null {
  if (!plan.folders.some(({ status }) => status === 'REMOVING')) return null;
  if (!plan.asksFirst) return isAsked ? 'and nobody has confirmed that yet' : null;
  return rule.columns.removal_limit_percent === row.removal_limit_percent
    ? 'which is more than removalLimitPercent'
    : 'and this is the first scan of the configuration';
}

function askingFirst({ rule }: ScanWork, folders: readonly PlannedFolder[], why: string): string {
  const count = folders.filter(({ status }) => status === 'REMOVING').length;
  const [one, many] = rule.columns.repository_regex === null ? ['folder', 'folders'] : ['entry', 'entries'];
  const what =
    count === 1 ? `The ${one} of 1 environment is gone` : `The ${many} of ${count} environments are gone`;
  return `${what}, ${why}: confirm that they are to be removed, or restore the ${many} and scan again`;
}

/** The sentence of an error that people can do something about; null for any other. */
function failureOf(error: unknown): string | null {
  const isExpected =
    error instanceof UnreadableRepository || error instanceof Refusal || error instanceof UnmatchableTree;
  return isExpected ? error.message : null;
}

async function audit(context: ActorContext, { scan, template, row }: ScanWork): Promise<void> {
  const { created, removed, commit_hash: commitHash } = scan;
  if (created + removed === 0) return;
  await recordAudit(context, {
    organizationId: template.organization_id,
    projectId: row.project_id,
    action: 'discovery.scanned',
    entityId: template.id,
    details: { name: template.name, scanId: scan.id, commitHash, created, removed },
  });
}

async function proceed(context: Context, work: ScanWork, signal: AbortSignal): Promise<Date | void> {
  const { scan } = work;
  if (scan.listed_at === null) {
    if (await isUnchanged(context, work)) {
      const { scanned_commit: mark } = work.row;
      const commit = work.rule.columns.repository_regex === null ? mark : null;
      await finish(context, scan, 'SUCCESS', { is_unchanged: true, commit_hash: commit });
      return;
    }
    const listed = await listAll(context, work, signal);
    if (!listed) {
      await finish(context, scan, 'CANCELLED', { error: changed });
      return;
    }
    return actOnAll(context, { ...work, scan: listed }, signal);
  }
  return actOnAll(context, work, signal);
}

/** New folders become environments, also while a scan waits for a person who confirms what it would remove. */
async function actOnAll(context: Context, work: ScanWork, signal: AbortSignal): Promise<Date | void> {
  const author = await onBehalf(context, {
    userId: work.row.updated_by,
    keyId: null,
    requestId: `scan ${work.scan.id}`,
    address: null,
  });
  const isFinished = await actOnFolders(author, work, signal);
  signal.throwIfAborted();
  if (!isFinished) return context.now();
  await inTransaction(author, async (context) => {
    const scan = await getScan(context.db, work.scan.id);
    if (!scan || scan.status === 'WAITING_FOR_USER') return;
    await audit(context, { ...work, scan });
    if (scan.finished_at !== null) return;
    const ended = { status: 'SUCCESS', finished_at: context.now() } as const;
    await noticeScan(context, await updateScan(context.db, scan.id, ended));
    await forgetScans(context.db, scan.project_id);
    await publishScan(context, scan.project_id);
  });
}

/**
 * @returns when to continue, where it is not finished
 * @throws what has nothing to do with the repository: the effect is tried again
 */
export async function carryOutScan(
  context: Context,
  scanId: string,
  signal: AbortSignal,
): Promise<Date | void> {
  const scan = await getScan(context.db, scanId);
  if (!scan || scan.finished_at !== null) return;
  const work = await workOf(context, scan);
  if (typeof work === 'string') {
    await finish(context, scan, 'CANCELLED', { error: work });
    return;
  }
  try {
    return await proceed(context, work, signal);
  } catch (error) {
    if (signal.aborted || whyUnavailable(error) !== null) throw error;
    const known = failureOf(error);
    if (known === null) context.log.error({ err: error, scanId }, 'a scan of environment discovery failed');
    const text = known ?? `The service failed; its log says why, under the scan ${scanId}`;
    await finish(context, scan, 'FAILURE', { error: text });
  }
}
