/** Projects as a table whose rows open and close. */
import { ActionIcon } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { usePage } from '../../api/queries.ts';
import { flatten, type ProjectNode } from '../../forms/project-tree.ts';
import records from '../../records/records.module.css';
import { DataTable } from '../../ui/DataTable.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import classes from './projects.module.css';
import { openAtFirst, visibleNodes } from './shown-tree.ts';

/** Number of environments of a project, without those below it. */
function EnvironmentCount({ projectId }: { readonly projectId: string }) {
  const { data } = usePage('listEnvironments', {
    query: { projectId, isActive: true, limit: 1, excludeFields: 'latestDeploymentLog' },
  });
  return <>{data?.total ?? '…'}</>;
}

interface NameCellProps {
  readonly node: ProjectNode;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function NameCell({ node: { project, depth, children }, isOpen, onToggle }: NameCellProps) {
  return (
    <div className={classes.name} style={{ paddingInlineStart: `calc(${depth} * 1.4rem)` }}>
      {children.length > 0 ? (
        <ActionIcon
          variant="subtle"
          size="sm"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Close' : 'Open'} ${project.name}`}
          onClick={onToggle}
        >
          <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" data-open={isOpen || undefined}>
            <path d="M3 1l4 4-4 4" stroke="currentColor" strokeWidth="1.6" fill="none" />
          </svg>
        </ActionIcon>
      ) : (
        <span className={classes.leaf} />
      )}
      <div>
        <Link to="/projects/$projectId" params={{ projectId: project.id }} className={records.name!}>
          <bdi>{project.name}</bdi>
        </Link>
        {project.isArchived && <span className={classes.mark}>archived</span>}
        {project.description !== '' && <div className={records.faint}>{project.description}</div>}
      </div>
    </div>
  );
}

export interface ProjectTreeProps {
  readonly nodes: readonly ProjectNode[];
  /** Everything that was found is in sight. */
  readonly isFiltered: boolean;
}

export function ProjectTree({ nodes, isFiltered }: ProjectTreeProps) {
  const navigate = useNavigate();
  const [touched, setTouched] = useState<ReadonlySet<string>>();
  const open = isFiltered
    ? new Set(flatten(nodes).map(({ project }) => project.id))
    : (touched ?? openAtFirst(nodes));
  const toggle = (id: string) =>
    setTouched(new Set(open.has(id) ? [...open].filter((each) => each !== id) : [...open, id]));
  return (
    <DataTable
      label="Projects"
      rows={visibleNodes(nodes, open)}
      idOf={({ project }) => project.id}
      onOpen={({ project }) =>
        void navigate({ to: '/projects/$projectId', params: { projectId: project.id } })
      }
      columns={[
        {
          id: 'name',
          head: 'Name',
          cell: (node) => (
            <NameCell
              node={node}
              isOpen={open.has(node.project.id)}
              onToggle={() => toggle(node.project.id)}
            />
          ),
        },
        {
          id: 'environments',
          head: 'Environments',
          isNumber: true,
          cell: ({ project }) => <EnvironmentCount projectId={project.id} />,
        },
        {
          id: 'below',
          head: 'Projects below',
          isNumber: true,
          isMinor: true,
          cell: ({ children }) => flatten(children).length,
        },
        { id: 'role', head: 'Your role', isMinor: true, cell: ({ project }) => project.role ?? '–' },
        {
          id: 'tags',
          head: 'Tags',
          isMinor: true,
          cell: ({ project }) => <bdi>{project.tags.join(', ')}</bdi>,
        },
        {
          id: 'changed',
          head: 'Changed',
          isMinor: true,
          cell: ({ project }) => <TimeAgo at={project.updatedAt} />,
        },
      ]}
    />
  );
}
