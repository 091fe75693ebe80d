/** State versions as rows, with what can be done with each. */
import { Button, Group, Menu, Pagination } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { StateVersion } from '#contract/state/shapes.ts';
import { client } from '../../../api/client.ts';
import { errorText } from '../../../api/errors.ts';
import { showError } from '../../../api/messages.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { type Column, DataTable } from '../../../ui/DataTable.tsx';
import { useSearchState } from '../../../ui/search.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import { isOpen } from '../facts/facts.ts';
import type { EnvironmentProps } from '../facts/reads.ts';
import { DeleteVersionDialog, RestoreDialog } from './dialogs.tsx';
import { originWords, sizeText, versionName } from './words.ts';

function Standing({ version }: { readonly version: StateVersion }) {
  const { standing } = version;
  return (
    <span className={classes.standing} data-standing={standing}>
      {standing === 'current' ? '● current' : standing === 'rescued' ? '▲ rescued' : 'superseded'}
    </span>
  );
}

function MadeBy({ version }: { readonly version: StateVersion }) {
  const { origin, deploymentLogId, createdByUser, comment } = version;
  return (
    <span className={classes.madeBy}>
      {deploymentLogId ? (
        <Link to="/deployments/$deploymentId" params={{ deploymentId: deploymentLogId }}>
          {originWords[origin]}
        </Link>
      ) : (
        originWords[origin]
      )}
      {createdByUser?.name ? (
        <>
          {' '}
          of <bdi>{createdByUser.name}</bdi>
        </>
      ) : null}
      {comment ? (
        <span className={classes.reason} dir="auto">
          {comment}
        </span>
      ) : null}
    </span>
  );
}

/** Gives the browser a file. */
async function download(version: StateVersion, name: string): Promise<void> {
  const bytes = await client.bytes('getStateContent', { params: { id: version.id } });
  const url = URL.createObjectURL(new Blob([bytes as BlobPart], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replaceAll(/[^\w.-]+/g, '-')}-${version.serial}.tfstate`;
  link.click();
  URL.revokeObjectURL(url);
}

/** Why the state cannot be replaced now; undefined: it can. */
function whyNotWrite({ environment, rights }: EnvironmentProps): string | undefined {
  if (environment.isLocked) return 'The environment is locked. Unlock it first.';
  const latest = environment.latestDeploymentLog;
  if (isOpen(latest) && latest?.status !== 'QUEUED') return 'A deployment runs or waits for approval.';
  return rights.whyNot('WRITE_STATE');
}

type Dialog = { readonly kind: 'restore' | 'delete'; readonly version: StateVersion };

function RowMenu({
  version,
  open,
  ...props
}: EnvironmentProps & { version: StateVersion; open: (dialog: Dialog) => void }) {
  const [, setSearch] = useSearchState();
  const whyNot = whyNotWrite(props);
  const isRescued = version.standing === 'rescued';
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <Button size="compact-xs" variant="subtle" aria-label={`Actions of ${versionName(version)}`}>
          Actions
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => setSearch({ compare: version.id, with: undefined }, true)}>
          Compare with its predecessor
        </Menu.Item>
        <Menu.Item
          onClick={() =>
            void download(version, props.environment.name).catch((error: unknown) =>
              showError(errorText(error)),
            )
          }
        >
          Download, with its secrets
        </Menu.Item>
        {version.standing !== 'current' && (
          <Menu.Item disabled={whyNot !== undefined} onClick={() => open({ kind: 'restore', version })}>
            {isRescued ? 'Make it current …' : 'Roll back to it …'}
            {whyNot !== undefined && <span className={classes.reason}>{whyNot}</span>}
          </Menu.Item>
        )}
        {isRescued && (
          <Menu.Item
            color="red"
            disabled={!props.rights.has('WRITE_STATE')}
            onClick={() => open({ kind: 'delete', version })}
          >
            Delete …
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function columnsOf(props: EnvironmentProps, open: (dialog: Dialog) => void): readonly Column<StateVersion>[] {
  return [
    { id: 'serial', head: 'Serial', isNumber: true, cell: ({ serial }) => serial },
    { id: 'standing', head: 'Standing', cell: (version) => <Standing version={version} /> },
    { id: 'by', head: 'Made by', cell: (version) => <MadeBy version={version} /> },
    { id: 'at', head: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
    {
      id: 'count',
      head: 'Resources',
      isNumber: true,
      isMinor: true,
      cell: ({ resourceCount }) => resourceCount ?? '–',
    },
    { id: 'size', head: 'Size', isNumber: true, isMinor: true, cell: ({ bytes }) => sizeText(bytes) },
    { id: 'tool', head: 'Tool', isMinor: true, cell: ({ terraformVersion }) => terraformVersion ?? '–' },
    { id: 'do', head: '', cell: (version) => <RowMenu {...props} version={version} open={open} /> },
  ];
}

export interface StateVersionsProps extends EnvironmentProps {
  readonly versions: readonly StateVersion[];
  readonly pages: number;
  readonly page: number;
  readonly onPage: (page: number) => void;
}

export function StateVersions({ versions, pages, page, onPage, ...props }: StateVersionsProps) {
  const [, setSearch] = useSearchState();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  // The newer one is what is compared: the list has the newest first.
  const [newer, older] = versions.filter(({ id }) => selected.has(id));
  return (
    <>
      <Group mb="xs">
        <ActionButton
          size="compact-sm"
          variant="default"
          whyNot={selected.size === 2 ? undefined : 'Select two versions in the table.'}
          onClick={() => setSearch({ compare: newer?.id, with: older?.id }, true)}
        >
          Compare two selected
        </ActionButton>
      </Group>
      <DataTable
        label="State versions"
        columns={columnsOf(props, setDialog)}
        rows={versions}
        idOf={({ id }) => id}
        nameOf={versionName}
        selected={selected}
        onSelect={setSelected}
        onOpen={({ id }) => setSearch({ compare: id, with: undefined }, true)}
      />
      {pages > 1 && (
        <Pagination
          mt="sm"
          size="sm"
          total={pages}
          value={page}
          onChange={onPage}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
        />
      )}
      {dialog?.kind === 'restore' && <RestoreDialog version={dialog.version} onClose={close} />}
      {dialog?.kind === 'delete' && <DeleteVersionDialog version={dialog.version} onClose={close} />}
    </>
  );
}
