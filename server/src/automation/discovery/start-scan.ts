/** Starts scans: when a configuration is saved, by the clock, after pushes, and by people. */
import type { DiscoveryScan, ScanCause } from '#contract/discovery/shapes.ts';
import type { Context } from '../../framework/context.ts';
import { type EffectKind, promiseEffect } from '../../framework/effects/effect-kind.ts';
import type { DiscoveryRow } from '../../rows/discovery/discovery-store.ts';
import {
  cancelListedScans,
  insertScan,
  type ScanRow,
  scanAhead,
  updateScan,
} from '../../rows/discovery/scan-store.ts';
import { carryOutScan } from './carry-out-scan.ts';
import { publishScan } from './publish-scan.ts';

/** Effect: one scan, in as many goes as it takes. */
export const scanProject: EffectKind<{ readonly scanId: string }> = {
  name: 'discovery.scan',
  isSlow: true,
  carryOut: (context, { scanId }, signal) => carryOutScan(context, scanId, signal),
};

export function scanView(row: ScanRow): DiscoveryScan {
  return {
    id: row.id,
    status: row.status,
    cause: row.cause,
    isUnchanged: row.is_unchanged,
    ...(row.commit_hash === null ? {} : { commitHash: row.commit_hash }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.files === null ? {} : { files: row.files }),
    ...(row.matched === null ? {} : { matched: row.matched }),
    ...(row.listed_at === null ? {} : { created: row.created, removed: row.removed, failed: row.failed }),
    createdAt: row.created_at.toISOString(),
    ...(row.finished_at === null ? {} : { finishedAt: row.finished_at.toISOString() }),
  };
}

/**
 * Promises a scan, in the transaction of the caller, which has locked the configuration. One that has not read the
 * folders yet stands for all that are requested until then.
 */
export async function startScan(
  context: Context,
  { project_id, version }: Pick<DiscoveryRow, 'project_id' | 'version'>,
  cause: ScanCause,
): Promise<ScanRow> {
  const isForced = cause === 'user';
  const ahead = await scanAhead(context.db, project_id, version);
  if (ahead) {
    if (!isForced || ahead.is_forced) return ahead;
    return (await updateScan(context.db, ahead.id, { is_forced: true })) ?? ahead;
  }
  const id = context.newId();
  if (cause === 'saved')
    await cancelListedScans(context.db, project_id, {
      ...{ except: id, at: context.now() },
      error: 'The configuration was changed: a newer scan follows it',
    });
  const row = await insertScan(context.db, {
    id,
    project_id,
    cause,
    version,
    is_forced: isForced,
    created_at: context.now(),
  });
  await promiseEffect(context, scanProject, { scanId: id });
  await publishScan(context, project_id);
  return row;
}
