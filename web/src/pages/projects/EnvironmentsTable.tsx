/** Environments of one place, such as a project or a template, in pages. */
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePage } from '../../api/queries.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { useSearchState } from '../../ui/search.ts';
import { columns } from '../environments/list/columns.tsx';
import { type EnvironmentQuery, leftOut, pageNumber } from '../environments/list/list-query.ts';
import { Pager } from '../environments/list/Pager.tsx';

export interface EnvironmentsTableProps {
  readonly label: string;
  readonly query: EnvironmentQuery;
  /** Instead of a table without rows. */
  readonly empty: ReactNode;
}

const size = 50;

export function EnvironmentsTable({ label, query, empty }: EnvironmentsTableProps) {
  const navigate = useNavigate();
  const [search, change] = useSearchState();
  const page = pageNumber(search);
  const { sort = 'name' } = search;
  const filters = { ...query, limit: size, offset: (page - 1) * size, excludeFields: leftOut, sort };
  const environments = usePage('listEnvironments', { query: filters as EnvironmentQuery });
  return (
    <Loaded query={environments}>
      {({ rows, total }) =>
        total === 0 ? (
          empty
        ) : (
          <>
            <DataTable
              label={label}
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              onOpen={({ id }) =>
                void navigate({ to: '/environments/$environmentId', params: { environmentId: id } })
              }
              sort={sort}
              onSort={(next) => change({ sort: next, page: undefined })}
            />
            <Pager
              page={page}
              size={size}
              total={total}
              onPage={(next) => change({ page: next === 1 ? undefined : String(next) })}
            />
          </>
        )
      }
    </Loaded>
  );
}
