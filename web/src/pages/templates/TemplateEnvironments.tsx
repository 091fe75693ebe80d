/** The environments that use a template. */
import { Pagination } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { environmentLooks, Status } from '../../design/status.tsx';
import { usePage } from '../../api/queries.ts';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import classes from './templates.module.css';

const pageSize = 50;

const columns: readonly Column<Environment>[] = [
  {
    id: 'name',
    head: 'Environment',
    cell: ({ id, name }) => (
      <Link to="/environments/$environmentId" params={{ environmentId: id }} className={classes.name!}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  { id: 'status', head: 'Status', cell: ({ status }) => <Status look={environmentLooks[status]} /> },
  { id: 'project', head: 'Project', cell: ({ projectName }) => <bdi>{projectName}</bdi> },
  {
    id: 'revision',
    head: 'Revision',
    isMinor: true,
    cell: ({ latestDeploymentLog }) => <code>{latestDeploymentLog.blueprintRevision || 'default'}</code>,
  },
  {
    id: 'deployed',
    head: 'Last deployment',
    isMinor: true,
    cell: ({ latestDeploymentLog: { queuedAt } }) => queuedAt && <TimeAgo at={queuedAt} />,
  },
];

interface OfTemplate {
  readonly template: Template;
}

function NoEnvironments({ template: { id = '', projectIds = [] } }: OfTemplate) {
  const projectId = projectIds[0];
  const body = {
    name: 'staging',
    projectId: projectId ?? '{projectId}',
    deployRequest: { blueprintId: id },
  };
  return (
    <EmptyState
      title="No environment uses this template"
      action={
        <Link to="/environments/new" search={{ template: id }}>
          Create one
        </Link>
      }
      call={callOf('Create an environment from it', 'createEnvironment', { body }, [
        ...['environment', 'create', 'staging', '--template', id],
        ...(projectId === undefined ? [] : ['--project', projectId]),
      ])}
    />
  );
}

export function TemplateEnvironments({ template }: OfTemplate) {
  const navigate = useNavigate();
  const [{ page = '1' }, change] = useSearchState();
  const at = Math.max(1, Number(page) || 1);
  const offset = (at - 1) * pageSize;
  const query = { blueprintId: template.id ?? '', limit: pageSize, offset, sort: 'name' } as const;
  const environments = usePage('listEnvironments', { query });
  return (
    <Loaded query={environments}>
      {({ rows, total }) =>
        total === 0 ? (
          <NoEnvironments template={template} />
        ) : (
          <>
            <DataTable
              label="Environments that use this template"
              columns={columns}
              rows={rows}
              idOf={(row) => row.id}
              onOpen={({ id }) =>
                void navigate({ to: '/environments/$environmentId', params: { environmentId: id } })
              }
            />
            {total > pageSize && (
              <Pagination
                mt="md"
                total={Math.ceil(total / pageSize)}
                value={at}
                onChange={(next) => change({ page: next === 1 ? undefined : String(next) })}
              />
            )}
          </>
        )
      }
    </Loaded>
  );
}
