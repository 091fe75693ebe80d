/** `describe-change-set`: what the approved change set is now, before it is executed. */

import type { Api } from './api/api.ts';
import type { ApprovedChangeSet, ChangeSetReport } from './api/reports.ts';
import { readPages, reportOn } from './change-set.ts';

function gone(approved: ApprovedChangeSet): ChangeSetReport {
  const problem = 'the approved change set is there no more: it was deleted, or the stack was';
  return { ...approved, isCreation: false, state: { problem }, changes: [] };
}

export async function describeChangeSet(api: Api): Promise<ChangeSetReport> {
  const approved = JSON.parse(api.approved) as ApprovedChangeSet;
  const described = await readPages(api, approved.changeSetId ?? '');
  if (described === null || described.Status === 'DELETE_COMPLETE') return gone(approved);
  const report = await reportOn(api, described, { isCreation: false, hidden: [] });
  // One that was executed may describe its changes no more.
  const hash = report.state === 'begun' && report.changes.length === 0 ? approved.hash : report.hash;
  return { ...report, hash, changes: [] };
}
