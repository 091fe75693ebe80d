/** Notices about the last scan, with the decisions that it waits for. */
import { Button } from '@mantine/core';
import type { Discovery, DiscoveryState } from '#contract/discovery/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import type { Rights } from '../../../api/rights.ts';
import { Removal } from '../../../records/Removal.tsx';
import { Notice } from '../../../ui/Notice.tsx';

export interface NoticesProps {
  readonly project: Project;
  readonly discovery: Discovery;
  readonly state: DiscoveryState;
  readonly rights: Rights;
  /** Shows only folders with a status. */
  readonly onShow: (status: string) => void;
}

const mostNames = 20;

function Removals({ project, discovery, state, rights }: NoticesProps) {
  const { lastScan, folders } = state;
  if (lastScan?.status !== 'WAITING_FOR_USER') return null;
  const removed = folders.filter(({ status }) => status === 'REMOVING');
  const isDestroy = discovery.onRemoval === 'destroy';
  const isOne = removed.length === 1;
  const what = isOne ? '1 environment' : `${removed.length} environments`;
  const [one, many] = discovery.globPattern === undefined ? ['entry', 'entries'] : ['folder', 'folders'];
  const found = `The ${isOne ? one : many}`;
  const verb = isDestroy ? 'Destroy' : 'Archive';
  return (
    <Notice
      tone="wait"
      action={
        <Removal
          operation="confirmDiscoveryRemoval"
          input={{ params: { projectId: project.id, scanId: lastScan.id } }}
          refreshes={['getDiscoveryState', 'listDiscoveryScans', 'listEnvironments']}
          label={`${verb} ${what} …`}
          question={`${verb} ${what}?`}
          verb={verb}
          done={isDestroy ? 'Their destruction has started' : 'They are archived now'}
          whyNot={rights.whyNot('EDIT_PROJECT_SETTINGS')}
          {...(isDestroy ? { typed: project.name } : {})}
        >
          {isDestroy
            ? 'Everything that they have created is destroyed, as their policies allow.'
            : 'What they have created is kept, and they can be restored.'}
          <ul>
            {removed.slice(0, mostNames).map(({ repository, folder, environmentName }) => (
              <li key={`${repository} ${folder}`}>
                <bdi>{environmentName ?? folder}</bdi>
              </li>
            ))}
          </ul>
          {removed.length > mostNames && `And ${removed.length - mostNames} more.`}
        </Removal>
      }
    >
      <strong>
        {found} of {what} {isOne ? 'is' : 'are'} gone
      </strong>
      . Confirm that {isOne ? 'it is' : 'they are'} to be removed, or restore what is gone and scan again.
    </Notice>
  );
}

export function Notices(props: NoticesProps) {
  const { state, onShow } = props;
  const { lastScan, folders } = state;
  const renamed = folders.filter(({ status }) => status === 'RENAMED').length;
  return (
    <>
      {lastScan?.status === 'FAILURE' && (
        <Notice tone="fail">
          <strong>The last scan failed:</strong> {lastScan.error}. Environments are unchanged.
        </Notice>
      )}
      <Removals {...props} />
      {renamed > 0 && (
        <Notice
          tone="wait"
          action={
            <Button size="xs" variant="default" onClick={() => onShow('RENAMED')}>
              Show only these
            </Button>
          }
        >
          <strong>{renamed === 1 ? 'A folder was renamed.' : `${renamed} folders were renamed.`}</strong>{' '}
          Decide whether the environment of the old folder follows.
        </Notice>
      )}
    </>
  );
}
