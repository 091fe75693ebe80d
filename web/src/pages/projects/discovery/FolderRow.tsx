/** A row of the tree of folders: its name, its state, its environment and the reason for it. */
import { ActionIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { Status, type StatusLook } from '../../../design/status.tsx';
import classes from './discovery.module.css';
import type { FolderNode, OfFolder } from './folder-tree.ts';

/** A folder as the tree shows it. */
export interface FolderEntry extends OfFolder {
  /** Its status or action, by which the tree is filtered. */
  readonly state: string;
  readonly reason?: string | undefined;
  readonly environmentId?: string | undefined;
  /** Of the environment, or as it would be called. */
  readonly environmentName?: string | undefined;
  /** Path of its project, if it is another one. */
  readonly place?: string | undefined;
  /** Buttons of a decision. */
  readonly decision?: ReactNode;
}

function EnvironmentOf({ entry }: { readonly entry: FolderEntry }) {
  const { environmentId, environmentName, place } = entry;
  if (environmentName === undefined) return null;
  return (
    <span className={classes.environment}>
      {environmentId === undefined ? (
        <bdi className={classes.planned}>{environmentName}</bdi>
      ) : (
        <Link to="/environments/$environmentId" params={{ environmentId }}>
          <bdi>{environmentName}</bdi>
        </Link>
      )}
      {place !== undefined && (
        <span className={classes.place}>
          {' '}
          in <bdi>{place}</bdi>
        </span>
      )}
    </span>
  );
}

function Toggle({ label, isOpen, onToggle }: { label: string; isOpen: boolean; onToggle: () => void }) {
  return (
    <ActionIcon
      variant="subtle"
      size="sm"
      aria-expanded={isOpen}
      aria-label={`${isOpen ? 'Close' : 'Open'} ${label}`}
      onClick={onToggle}
    >
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" data-open={isOpen || undefined}>
        <path d="M3 1l4 4-4 4" stroke="currentColor" strokeWidth="1.6" fill="none" />
      </svg>
    </ActionIcon>
  );
}

export interface FolderRowProps {
  readonly node: FolderNode<FolderEntry>;
  readonly look: StatusLook | undefined;
  readonly isOpen: boolean;
  readonly isCurrent: boolean;
  readonly onToggle: (path: string) => void;
}

/** Of rows that stay in sight while others come, none is made again. */
export const FolderRow = memo(function FolderRow({
  node,
  look,
  isOpen,
  isCurrent,
  onToggle,
}: FolderRowProps) {
  const { path, label, depth, entry, children, count } = node;
  return (
    <div className={classes.row} data-current={isCurrent || undefined} style={{ '--depth': depth } as object}>
      <div className={classes.name}>
        {children.length > 0 ? (
          <Toggle label={path} isOpen={isOpen} onToggle={() => onToggle(path)} />
        ) : (
          <span className={classes.leaf} />
        )}
        <bdi className={classes.label} data-known={entry !== undefined || undefined}>
          {path === '' ? 'Root of the repository' : label}
        </bdi>
        {children.length > 0 && (
          <span className={classes.count} title={`${count} folders below`}>
            {count}
          </span>
        )}
      </div>
      {entry !== undefined && (
        <>
          {look && <Status look={look} />}
          <EnvironmentOf entry={entry} />
          {entry.reason !== undefined && <p className={classes.reason}>{entry.reason}</p>}
          {entry.decision}
        </>
      )}
    </div>
  );
});
