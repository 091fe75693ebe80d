/** Asks the repositories of environment discovery for news: every hour, and after a push that a forge reports. */
import type { Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import {
  type DiscoveryRow,
  discoveriesOf,
  lockDiscovery,
  lockDueDiscovery,
  setNextPoll,
} from '../../rows/discovery/discovery-store.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { listRowsOfType } from '../../rows/templates/template-store.ts';
import { matchesName, nameOfRepository } from './list-repositories.ts';
import { startScan } from './start-scan.ts';

const pollMilliseconds = 60 * 60 * 1000;
/** Share of the hour by which polls are spread, so that those that were saved together do not stay together. */
const spread = 0.1;

export function nextPollAfter(now: Date): Date {
  return new Date(now.getTime() + pollMilliseconds * (1 - Math.random() * spread));
}

/** Loop: promises scans of all configurations that are due, each on one server. */
export async function pollRepositories(context: Context, closing: AbortSignal): Promise<void> {
  const pollOne = () =>
    inTransaction(context, async (context) => {
      const now = context.now();
      const due = await lockDueDiscovery(context.db, now);
      if (!due) return false;
      await setNextPoll(context.db, due.project_id, nextPollAfter(now));
      const project = await getProjectRow(context.db, due.project_id);
      if (project?.is_archived === false) await startScan(context, due, 'poll');
      return true;
    });
  while (!closing.aborted && (await pollOne()));
}

/** A push, as a forge reports it. */
export interface Push {
  readonly organizationId: string;
  /** Spellings of the repository's address: with and without `.git`, for HTTPS and for SSH. */
  readonly repositories: readonly string[];
  readonly branch: string;
  readonly isDefaultBranch: boolean;
}

/** Whether a configuration of discovery files reads the repository of a push. */
async function hasFilesOf(
  context: Context,
  { repository_regex: regex }: DiscoveryRow,
  { repositories, isDefaultBranch }: Push,
): Promise<boolean> {
  if (regex === null || !isDefaultBranch) return false;
  const names = new Set(repositories.flatMap((each) => nameOfRepository(context, each) ?? []));
  for (const name of names) if (await matchesName(regex, name).catch(() => true)) return true;
  return false;
}

/** Promises scans of all configurations that follow the branch, and of those whose discovery files are on it. */
export async function scanAfterPush(context: Context, push: Push): Promise<void> {
  const { organizationId, repositories, branch, isDefaultBranch } = push;
  const follows = (revision: string | undefined) =>
    revision ? revision === branch || revision === `refs/heads/${branch}` : isDefaultBranch;
  await inTransaction(context, async (context) => {
    const templates = await listRowsOfType(context.db, 'environment-discovery', { organizationId });
    const followed = templates.filter(
      ({ repository, settings }) =>
        repository === '' || (repositories.includes(repository) && follows(settings.revision)),
    );
    const found = await discoveriesOf(
      context.db,
      followed.map(({ id }) => id),
    );
    for (const each of found) {
      if (each.glob_pattern === null && !(await hasFilesOf(context, each, push))) continue;
      const row = await lockDiscovery(context.db, each.project_id);
      if (row) await startScan(context, row, 'push');
    }
  });
}
