/** All environments that the person may see. */

import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Environment } from '#contract/environments/shapes.ts';
import { pageOf, queryClient, usePage } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { callOf } from '../../ui/calls.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { type Search, useSearchState } from '../../ui/search.ts';
import { useNextHour } from '../../ui/Time.tsx';
import { BulkBar } from './list/BulkBar.tsx';
import { columns } from './list/columns.tsx';
import { Filters } from './list/Filters.tsx';
import classes from './list/list.module.css';
import { filterKeys, filtersOf, pageNumber, pageSize, queryOf, wordsOf } from './list/list-query.ts';
import { Pager } from './list/Pager.tsx';
import { Views } from './list/Views.tsx';

const hourMilliseconds = 3_600_000;

/** The list that an address says, with the page after it on its way. */
function useEnvironmentPage(organizationId: string, search: Search) {
  const now = useNextHour() * hourMilliseconds;
  const query = queryOf(organizationId, search, now);
  const list = usePage('listEnvironments', { query });
  const page = pageNumber(search);
  const hasNext = list.data !== undefined && !list.isPlaceholderData && page * pageSize < list.data.total;
  const next = JSON.stringify(queryOf(organizationId, search, now, page + 1));
  useEffect(() => {
    if (hasNext)
      void queryClient.prefetchQuery(pageOf('listEnvironments', { query: JSON.parse(next) as typeof query }));
  }, [hasNext, next]);
  return { list, query, page };
}

type Chosen = ReadonlyMap<string, Environment>;

/** Rows selected on other pages stay selected. */
function chosenOf(ids: ReadonlySet<string>, rows: readonly Environment[], before: Chosen): Chosen {
  const known = new Map([...before, ...rows.map((row) => [row.id, row] as const)]);
  return new Map([...ids].flatMap((id) => (known.has(id) ? [[id, known.get(id)!] as const] : [])));
}

/** As they are now, where the page shows them. */
function rowsNow(chosen: Chosen, rows: readonly Environment[]): Environment[] {
  const shown = new Map(rows.map((row) => [row.id, row]));
  return [...chosen.values()].map((row) => shown.get(row.id) ?? row);
}

function Nothing({
  search,
  onClear,
  organizationId,
}: {
  readonly search: Search;
  readonly onClear: () => void;
  readonly organizationId: string;
}) {
  const projectId = useProjects().projects[0]?.id ?? '<project>';
  if (Object.keys(filtersOf({ ...search, sort: undefined })).length > 0) {
    return (
      <EmptyState
        title="No matching environments"
        action={
          <Button variant="default" onClick={onClear}>
            Clear the filters
          </Button>
        }
      >
        No environment that you can see matches the filters.
      </EmptyState>
    );
  }
  const repository = 'https://git.example.com/infrastructure.git';
  const call = callOf(
    'Create an environment',
    'createEnvironmentWithoutTemplate',
    { body: { organizationId, projectId, name: 'web', type: 'opentofu', repository } } as never,
    [
      ...['environment', 'create', 'web', '--project', projectId],
      ...['--type', 'opentofu', '--repository', repository],
    ],
  );
  return (
    <EmptyState
      title="No environments yet"
      call={call}
      action={
        <Button component={Link} to="/environments/new">
          New environment
        </Button>
      }
    >
      An environment is a folder of infrastructure code with its variables, its state and its history.
    </EmptyState>
  );
}

export function EnvironmentsPage() {
  const { organizationId } = useSession();
  const [search, change] = useSearchState();
  const navigate = useNavigate();
  const { list, query, page } = useEnvironmentPage(organizationId, search);
  const clear = () => change(Object.fromEntries([...filterKeys, 'page'].map((key) => [key, undefined])));
  const [selected, setSelected] = useState<ReadonlyMap<string, Environment>>(new Map());
  const open = ({ id }: Environment) =>
    void navigate({ to: '/environments/$environmentId', params: { environmentId: id } });
  return (
    <Page
      title="Environments"
      calls={[callOf('List these environments', 'listEnvironments', { query }, wordsOf(search))]}
    >
      <Views organizationId={organizationId} filters={filtersOf(search)} />
      <Filters
        organizationId={organizationId}
        search={search}
        onChange={(changes) => change({ ...changes, page: undefined })}
      />
      <Loaded query={list}>
        {({ rows, total }) =>
          total === 0 ? (
            <Nothing search={search} onClear={clear} organizationId={organizationId} />
          ) : (
            <div className={list.isPlaceholderData ? classes.stale : undefined}>
              <DataTable
                label="Environments"
                columns={columns}
                rows={rows}
                idOf={({ id }) => id}
                nameOf={({ name }) => name}
                sort={search.sort ?? '-createdAt'}
                onSort={(sort) => change({ sort, page: undefined })}
                onOpen={open}
                selected={new Set(selected.keys())}
                onSelect={(ids) => setSelected(chosenOf(ids, rows, selected))}
              />
              <BulkBar
                organizationId={organizationId}
                environments={rowsNow(selected, rows)}
                onClear={() => setSelected(new Map())}
              />
              <Pager
                page={page}
                size={pageSize}
                total={total}
                onPage={(next) => change({ page: next === 1 ? undefined : String(next) }, true)}
              />
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}
