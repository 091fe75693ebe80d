/** Configurations, scans and folders of environment discovery as people read them. */
import type {
  DiscoveredFolder,
  Discovery,
  DiscoveryPreview,
  DiscoveryScan,
  DiscoveryState,
} from '#contract/discovery/shapes.ts';
import { type ExitCode, exitCodes } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { durationBetween, timeText } from '../../terminal/durations.ts';
import type { TableColumn } from '../../terminal/table.ts';

/** `PASSED_OVER` and `passOver` as `passed over` and `pass over`. */
function words(name: string): string {
  const isConstant = name === name.toUpperCase();
  return (isConstant ? name : name.replaceAll(/[A-Z]/g, '_$&')).toLowerCase().replaceAll('_', ' ');
}

/** A folder, or an entry with its repository. */
function folderText({ repository, folder }: Pick<DiscoveredFolder, 'repository' | 'folder'>): string {
  if (repository === undefined) return folder === '' ? '(root)' : folder;
  return folder === '' ? repository : `${repository}#${folder}`;
}

const folderColumns: TableColumn<DiscoveredFolder>[] = [
  { head: 'FOLDER', value: folderText },
  { head: 'STATUS', value: ({ status }) => words(status), isWhole: true },
  { head: 'ENVIRONMENT', value: ({ environmentName }) => environmentName },
  { head: 'REASON', value: ({ reason }) => reason },
  { head: 'ID', value: ({ environmentId }) => environmentId, isId: true, isExtra: true },
];

const previewColumns: TableColumn<DiscoveryPreview['folders'][number]>[] = [
  { head: 'FOLDER', value: folderText },
  { head: 'ACTION', value: ({ action }) => words(action), isWhole: true },
  { head: 'ENVIRONMENT', value: ({ environmentName }) => environmentName },
  { head: 'REASON', value: ({ reason }) => reason },
  { head: 'WORKSPACE', value: ({ workspaceName }) => workspaceName, isExtra: true },
];

const scanColumns: TableColumn<DiscoveryScan>[] = [
  { head: 'STARTED', value: ({ createdAt }) => timeText(createdAt), isWhole: true },
  { head: 'STATUS', value: ({ status }) => status, isWhole: true },
  { head: 'CAUSE', value: ({ cause }) => cause, isWhole: true },
  { head: 'COMMIT', value: ({ commitHash }) => commitHash?.slice(0, 10), isWhole: true, isExtra: true },
  { head: 'FOLDERS', value: ({ matched }) => matched, isExtra: true },
  { head: 'CREATED', value: ({ created }) => created },
  { head: 'REMOVED', value: ({ removed }) => removed },
  { head: 'REASON', value: ({ error }) => error },
  { head: 'ID', value: ({ id }) => id, isId: true, isExtra: true },
];

const noFolders = 'Nothing: no scan has read the repositories yet, or nothing in them matches.';

export function showScans(session: CommandSession, scans: readonly DiscoveryScan[]): Promise<void> {
  return session.list(scans, scanColumns, 'No scans.');
}

function countText(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** Progress of a scan, in a line. */
export function scanText({
  status,
  isUnchanged,
  files,
  matched = 0,
  created = 0,
  removed = 0,
  failed = 0,
}: DiscoveryScan): string {
  if (isUnchanged) return `${status}, nothing has changed`;
  if (files === undefined) return status;
  const found = `${countText(files, 'file')}, ${matched} ${matched === 1 ? 'match' : 'matches'}`;
  const done = `${countText(created, 'environment')} created, ${removed} removed`;
  return `${status}, ${found}, ${done}${failed === 0 ? '' : `, ${failed} failed`}`;
}

function toolText(discovery: Discovery): string {
  const type = discovery.type ?? '';
  const version = (discovery as unknown as Readonly<Record<string, unknown>>)[`${type}Version`];
  return typeof version === 'string' ? `${type} ${version}` : type;
}

const placements = {
  topProject: 'in this project',
  existingSubProject: 'in the sub-project whose path the folder begins with',
} as const;

export async function showDiscovery(
  { output, isJson }: CommandSession,
  discovery: Discovery,
  state?: DiscoveryState,
): Promise<void> {
  if (isJson) return output.json(discovery);
  const { environmentPlacement, discoveryFileConfiguration: files, onRemoval } = discovery;
  const isGlob = files === undefined;
  await output.fields([
    ['Repository', discovery.repository],
    ['Revision', isGlob ? discovery.revision || 'the default branch' : undefined],
    ['Glob', discovery.globPattern],
    ['Discovery files of', files?.repositoryRegex],
    ['Root path', discovery.rootPath],
    ['Tool', isGlob ? toolText(discovery) : undefined],
    ['Environments', environmentPlacement && placements[environmentPlacement]],
    ['Workspaces', discovery.workspaceNaming],
    [isGlob ? 'Folder is gone' : 'Entry is gone', onRemoval],
    [
      'Asks first',
      onRemoval === 'flag' ? undefined : `above ${discovery.removalLimitPercent} % of the environments`,
    ],
    ['Description', discovery.description],
    ['Saved', `${timeText(discovery.updatedAt)} by ${discovery.author?.name ?? discovery.authorId ?? ''}`],
    ['Last scan', state?.lastScan && `${scanText(state.lastScan)} (${timeText(state.lastScan.createdAt)})`],
    ['Reason', state?.lastScan?.error],
    ['Next look', timeText(state?.nextPollAt)],
  ]);
}

export async function showFolders(
  { output, isJson }: CommandSession,
  state: DiscoveryState,
  folders = state.folders,
): Promise<void> {
  if (isJson) return output.json({ ...state, folders });
  await output.table(folders, folderColumns, state.folders.length === 0 ? noFolders : 'No such folder.');
  const listed = state.folders.filter(({ status }) => status === 'PASSED_OVER').length;
  if (folders === state.folders && state.passedOverCount > listed)
    await output.line(`${state.passedOverCount - listed} more were passed over.`);
}

/** Folders about which people should know after a scan. */
function needsAttention({ status }: DiscoveredFolder): boolean {
  return !['MANAGED', 'PASSED_OVER', 'REMOVED'].includes(status);
}

/** The result of a scan, and folders that did not become environments. */
export async function showResult(
  session: CommandSession,
  scan: DiscoveryScan,
  readState: () => Promise<DiscoveryState>,
): Promise<ExitCode> {
  const { output, isJson } = session;
  if (isJson) await output.json(scan);
  else {
    await output.fields([
      ['Scan', scanText(scan)],
      ['Reason', scan.error],
      ['Commit', scan.commitHash],
      ['Took', durationBetween(scan.createdAt, scan.finishedAt)],
      ['Id', scan.id],
    ]);
    const folders = (await readState()).folders.filter(needsAttention);
    if (folders.length > 0) {
      await output.line();
      await output.table(folders, folderColumns, '');
    }
  }
  if (scan.status === 'WAITING_FOR_USER') return exitCodes.waiting;
  return scan.status === 'FAILURE' || scan.status === 'CANCELLED' ? exitCodes.failed : exitCodes.good;
}

export async function showPreview(
  { output, isJson }: CommandSession,
  preview: DiscoveryPreview,
): Promise<void> {
  if (isJson) return output.json(preview);
  await output.table(preview.folders, previewColumns, 'Nothing matches, and nothing would change.');
  await output.line();
  const counts = Object.entries(Object.groupBy(preview.folders, ({ action }) => action)).map(
    ([action, folders]) => `${words(action)} ${folders.length}`,
  );
  await output.fields([
    ['Commit', preview.commitHash],
    ['Files', preview.files],
    ['In total', counts.join(', ')],
    ['Passed over', preview.passedOverCount],
    [
      'Asks first',
      preview.asksFirst ? 'yes: it would archive or destroy more than the limit allows' : undefined,
    ],
  ]);
}
