/** Environment discovery of a project: the last scan, the folders, and the configuration. */
import { useMemo } from 'react';
import type {
  DiscoveredFolder,
  Discovery,
  DiscoveryScan,
  DiscoveryState,
} from '#contract/discovery/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { showDone } from '../../../api/messages.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { type Rights, useRights } from '../../../api/rights.ts';
import { Status } from '../../../design/status.tsx';
import { toolName } from '../../../design/words.ts';
import { useProjects } from '../../../forms/ProjectSelect.tsx';
import { pathOf } from '../../../forms/project-tree.ts';
import { versionsOf } from '../../../forms/source/source-values.ts';
import { Part } from '../../../records/Part.tsx';
import { Removal } from '../../../records/Removal.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { DataTable } from '../../../ui/DataTable.tsx';
import { Facts } from '../../../ui/Facts.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { useSearchState } from '../../../ui/search.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import { discoveryReads } from './DiscoveryForm.tsx';
import classes from './discovery.module.css';
import {
  causeWords,
  folderLooks,
  namingWords,
  placementWords,
  removalWords,
  scanLooks,
  scanSentence,
} from './discovery-looks.ts';
import { discoverySource } from './discovery-values.ts';
import type { FolderEntry } from './FolderRow.tsx';
import { FolderTree } from './FolderTree.tsx';
import { treePath } from './folder-tree.ts';
import { Notices } from './Notices.tsx';
import { RenameDecision } from './RenameDecision.tsx';

export interface DiscoveryViewProps {
  readonly project: Project;
  readonly discovery: Discovery;
  readonly onEdit: () => void;
}

interface HeadProps extends DiscoveryViewProps {
  readonly state: DiscoveryState;
  readonly rights: Rights;
}

function Head({ project, state, rights, onEdit }: HeadProps) {
  const { lastScan, nextPollAt } = state;
  const input = { params: { projectId: project.id } };
  const scan = useChange('startDiscoveryScan', {
    refreshes: ['getDiscoveryState', 'listDiscoveryScans'],
    onSuccess: () => showDone('A scan has started'),
  });
  const whyNot = rights.whyNot('EDIT_PROJECT_SETTINGS');
  const whyNoScan = whyNot ?? (project.isArchived ? 'The project is archived: restore it first.' : undefined);
  return (
    <div className={classes.head}>
      {lastScan && <Status look={scanLooks[lastScan.status]} filled />}
      <p className={classes.sentence} role="status">
        {lastScan ? scanSentence(lastScan) : 'No scan has read the repository yet.'}{' '}
        {lastScan?.finishedAt && (
          <>
            Scanned <TimeAgo at={lastScan.finishedAt} />.{' '}
          </>
        )}
        Next check <TimeAgo at={nextPollAt} />.
      </p>
      <div className={classes.buttons}>
        <ActionButton
          size="xs"
          whyNot={whyNoScan}
          loading={scan.isPending}
          onClick={() => scan.mutate(input)}
        >
          Scan now
        </ActionButton>
        <ActionButton size="xs" variant="default" whyNot={whyNoScan} onClick={onEdit}>
          Edit discovery
        </ActionButton>
        <Removal
          operation="deleteDiscovery"
          input={input}
          refreshes={discoveryReads}
          label="Delete discovery"
          question={`Delete the discovery of ${project.name}?`}
          done="Deleted: the environments that were found are kept"
          whyNot={whyNot}
        >
          The repository is no longer scanned. Environments that were found are kept.
        </Removal>
      </div>
    </div>
  );
}

function useEntries(project: Project, folders: readonly DiscoveredFolder[], rights: Rights): FolderEntry[] {
  const { projects } = useProjects(true);
  return useMemo(
    () =>
      folders.map(({ status, environmentProjectId: placeId, ...folder }) => ({
        ...folder,
        folder: treePath(folder),
        state: status,
        place: placeId === undefined || placeId === project.id ? undefined : pathOf(projects, placeId),
        ...(status === 'RENAMED'
          ? { decision: <RenameDecision projectId={project.id} folder={folder.folder} rights={rights} /> }
          : {}),
      })),
    [folders, projects, project.id, rights],
  );
}

function Folders({ project, discovery, state, rights }: Omit<HeadProps, 'onEdit'>) {
  const entries = useEntries(project, state.folders, rights);
  const [{ show, find }, setSearch] = useSearchState();
  const listed = state.folders.filter(({ status }) => status === 'PASSED_OVER').length;
  return (
    <Part title={discovery.globPattern === undefined ? 'Entries' : 'Folders'}>
      {entries.length === 0 ? (
        <p className={classes.nothing}>Nothing was found. Edit the configuration and preview it.</p>
      ) : (
        <FolderTree
          label="Folders"
          looks={folderLooks}
          entries={entries}
          filter={{ state: show, find }}
          onFilter={(filter) => setSearch({ show: filter.state, find: filter.find })}
        />
      )}
      {state.passedOverCount > listed && (
        <p className={classes.more}>
          {state.passedOverCount.toLocaleString('en')} were passed over; the first{' '}
          {listed.toLocaleString('en')} are listed.
        </p>
      )}
    </Part>
  );
}

function Scans({ projectId }: { readonly projectId: string }) {
  const scans = useRead('listDiscoveryScans', { params: { projectId } });
  return (
    <Part title="Last scans">
      <Loaded query={scans} lines={3}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={classes.nothing}>None yet.</p>
          ) : (
            <DataTable<DiscoveryScan>
              label="Last scans"
              rows={rows}
              idOf={({ id }) => id}
              columns={[
                {
                  id: 'started',
                  head: 'Started',
                  cell: ({ createdAt }) => (
                    <span className={classes.whole}>
                      <TimeAgo at={createdAt} />
                    </span>
                  ),
                },
                {
                  id: 'result',
                  head: 'Result',
                  cell: (scan) => (
                    <>
                      <Status look={scanLooks[scan.status]} />
                      <div className={classes.result}>{scan.error ?? scanSentence(scan)}</div>
                    </>
                  ),
                },
                { id: 'cause', head: 'Cause', isMinor: true, cell: ({ cause }) => causeWords[cause] },
                {
                  id: 'commit',
                  head: 'Commit',
                  isMinor: true,
                  cell: ({ commitHash }) =>
                    commitHash && <code className={classes.whole}>{commitHash.slice(0, 10)}</code>,
                },
              ]}
            />
          )
        }
      </Loaded>
    </Part>
  );
}

function Configuration({ discovery }: { readonly discovery: Discovery }) {
  const { discoveryFileConfiguration: files, environmentPlacement, workspaceNaming } = discovery;
  const source = files === undefined ? discoverySource(discovery) : undefined;
  const versions = source && versionsOf(source).flatMap((field) => source[field] || []);
  return (
    <Part title="Configuration">
      <Facts
        facts={[
          ['Repository', discovery.repository && <code>{discovery.repository}</code>],
          ['Revision', source && (source.revision || 'The default branch')],
          ['Glob', discovery.globPattern && <code>{discovery.globPattern}</code>],
          ['Discovery files of', files && <code>{files.repositoryRegex}</code>],
          ['Root path', discovery.rootPath && <code>{discovery.rootPath}</code>],
          ['Tool', source && [toolName(source.type), ...(versions ?? [])].join(' ')],
          ['Environments', environmentPlacement && placementWords[environmentPlacement]],
          ['Workspaces', workspaceNaming && namingWords[workspaceNaming]],
          [files ? 'Entries that are gone' : 'Folders that are gone', removalWords[discovery.onRemoval]],
          [
            'Asks first',
            discovery.onRemoval === 'flag'
              ? undefined
              : `Above ${discovery.removalLimitPercent} % of the environments`,
          ],
          ['Acts for', discovery.author?.name ?? discovery.author?.email],
          ['Saved', discovery.updatedAt && <TimeAgo at={discovery.updatedAt} />],
        ]}
      />
    </Part>
  );
}

export function DiscoveryView(props: DiscoveryViewProps) {
  const { project, discovery } = props;
  const rights = useRights({ projectId: project.id });
  const query = useRead('getDiscoveryState', { params: { projectId: project.id } });
  const [, setSearch] = useSearchState();
  return (
    <Loaded query={query} lines={10}>
      {(state) => (
        <>
          <Head {...props} state={state} rights={rights} />
          <p className={classes.source}>
            {discovery.globPattern === undefined ? (
              <>
                Discovery files of <code>{discovery.discoveryFileConfiguration?.repositoryRegex}</code>
              </>
            ) : (
              <>
                <code>{discovery.globPattern}</code> in <code>{discovery.repository}</code>
              </>
            )}
          </p>
          <Notices
            {...{ project, discovery, state, rights }}
            onShow={(show) => setSearch({ show, find: undefined })}
          />
          <Folders {...{ project, discovery, state, rights }} />
          <Scans projectId={project.id} />
          <Configuration discovery={discovery} />
        </>
      )}
    </Loaded>
  );
}
