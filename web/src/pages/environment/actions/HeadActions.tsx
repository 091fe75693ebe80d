/** Actions on an environment, from its head. */
import { Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useRead } from '../../../api/queries.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { DialogLoading } from '../../../ui/Loaded.tsx';
import { useSearchState } from '../../../ui/search.ts';
import classes from '../facts/environment.module.css';
import {
  isOpen,
  whyNotArchive,
  whyNotDelete,
  whyNotDestroy,
  whyNotMove,
  whyNotStart,
} from '../facts/facts.ts';
import type { EnvironmentProps } from '../facts/reads.ts';
import { MoveDialog } from './MoveDialog.tsx';
import { ArchiveDialog, DeleteDialog, DestroyDialog, LockDialog } from './SmallDialogs.tsx';

const DeployDialog = lazy(() => import('./DeployDialog.tsx'));

type DialogName = 'destroy' | 'lock' | 'archive' | 'move' | 'delete';

interface ActionItemProps {
  readonly children: ReactNode;
  readonly whyNot: string | undefined;
  readonly isDangerous?: boolean;
  readonly onClick: () => void;
}

/** An entry of the menu that says why it cannot be used. */
function Item({ children, whyNot, isDangerous = false, onClick }: ActionItemProps) {
  const isRefused = whyNot !== undefined;
  return (
    <Menu.Item
      aria-disabled={isRefused}
      closeMenuOnClick={!isRefused}
      onClick={isRefused ? undefined : onClick}
    >
      <span
        className={classes.item}
        data-dangerous={isDangerous || undefined}
        data-refused={isRefused || undefined}
      >
        {children}
      </span>
      {isRefused && <span className={classes.reason}>{whyNot}</span>}
    </Menu.Item>
  );
}

/** The policy of the project is read when the menu opens. */
function DestroyItem({ environment, rights, onClick }: EnvironmentProps & { readonly onClick: () => void }) {
  const { data: policy } = useRead(
    'getPolicy',
    { query: { projectId: environment.projectId } },
    { enabled: rights.has('VIEW_PROJECT') },
  );
  return (
    <Item isDangerous whyNot={whyNotDestroy(environment, rights, policy)} onClick={onClick}>
      Destroy …
    </Item>
  );
}

function MoreMenu({
  environment,
  rights,
  open,
}: EnvironmentProps & { readonly open: (dialog: DialogName) => void }) {
  const { isArchived, isLocked } = environment;
  const noLock = rights.whyNot('MANAGE_ENVIRONMENT_LOCK');
  return (
    <Menu position="bottom-end" width={300}>
      <Menu.Target>
        <Button variant="default" size="xs">
          More
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Item whyNot={noLock} onClick={() => open('lock')}>
          {isLocked ? 'Unlock' : 'Lock …'}
        </Item>
        <Item whyNot={whyNotMove(environment, rights)} onClick={() => open('move')}>
          Move to another project …
        </Item>
        <Item whyNot={whyNotArchive(environment, rights)} onClick={() => open('archive')}>
          {isArchived ? 'Restore …' : 'Archive …'}
        </Item>
        <Menu.Divider />
        <DestroyItem environment={environment} rights={rights} onClick={() => open('destroy')} />
        <Item isDangerous whyNot={whyNotDelete(environment, rights)} onClick={() => open('delete')}>
          Delete …
        </Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Leads to the deployment that waits for a person, or that runs. */
function OpenDeployment({ environment }: Pick<EnvironmentProps, 'environment'>) {
  const { latestDeploymentLog: latest } = environment;
  if (!latest?.id || !isOpen(latest)) return null;
  const needsReview = latest.status === 'WAITING_FOR_USER';
  return (
    <Button
      size="xs"
      variant={needsReview ? 'filled' : 'default'}
      renderRoot={(props) => (
        <Link to="/deployments/$deploymentId" params={{ deploymentId: latest.id! }} {...props} />
      )}
    >
      {needsReview ? 'Review and approve' : 'Follow or abort'}
    </Button>
  );
}

export function HeadActions({ environment, rights }: EnvironmentProps) {
  const [search, setSearch] = useSearchState();
  const [dialog, setDialog] = useState<DialogName>();
  const close = () => setDialog(undefined);
  const isReviewed = environment.latestDeploymentLog?.status === 'WAITING_FOR_USER';
  const props = { environment, rights, onClose: close };
  const isDeploying = search.do === 'deploy';
  return (
    <>
      <OpenDeployment environment={environment} />
      <ActionButton
        size="xs"
        variant={isReviewed ? 'default' : 'filled'}
        whyNot={whyNotStart(environment, 'deploy', rights)}
        onClick={() => setSearch({ do: 'deploy' })}
      >
        Deploy …
      </ActionButton>
      <MoreMenu environment={environment} rights={rights} open={setDialog} />
      {isDeploying && rights.isKnown && (
        <Suspense fallback={<DialogLoading />}>
          <DeployDialog
            environment={environment}
            rights={rights}
            onClose={() => setSearch({ do: undefined, type: undefined })}
          />
        </Suspense>
      )}
      <DestroyDialog {...props} isOpen={dialog === 'destroy'} />
      <ArchiveDialog {...props} isOpen={dialog === 'archive'} />
      <DeleteDialog {...props} isOpen={dialog === 'delete'} />
      {dialog === 'lock' && <LockDialog {...props} />}
      {dialog === 'move' && <MoveDialog {...props} />}
    </>
  );
}
