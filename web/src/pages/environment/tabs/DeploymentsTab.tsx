/** All deployments of an environment, by pages and filters. */
import { MultiSelect, Pagination } from '@mantine/core';
import type { DeploymentStatus, DeploymentType } from '#contract/schema/enumerations.ts';
import { usePage } from '../../../api/queries.ts';
import { deploymentLooks } from '../../../design/status.tsx';
import { deploymentTypeWords } from '../../../design/words.ts';
import records from '../../../records/records.module.css';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { useSearchState } from '../../../ui/search.ts';
import type { EnvironmentProps } from '../facts/reads.ts';
import { DeploymentTable } from '../overview/DeploymentTable.tsx';

const pageSize = 25;

const typeChoices = (Object.keys(deploymentTypeWords) as DeploymentType[]).map((value) => ({
  value,
  label: deploymentTypeWords[value],
}));
const statusChoices = (Object.keys(deploymentLooks) as DeploymentStatus[])
  .filter((value) => value !== 'NEVER_DEPLOYED')
  .map((value) => ({ value, label: deploymentLooks[value].word }));

function listOf(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.split(',');
}

/** Filters of types and statuses; both are in the address. */
function Filters() {
  const [{ types, statuses }, setSearch] = useSearchState();
  const filter = (key: string, all: readonly string[]) =>
    setSearch({ [key]: all.join(',') || undefined, page: undefined });
  return (
    <div className={records.filters}>
      <MultiSelect
        label="Type"
        size="xs"
        clearable
        placeholder={types ? '' : 'all'}
        data={typeChoices}
        value={listOf(types)}
        onChange={(next) => filter('types', next)}
      />
      <MultiSelect
        label="Status"
        size="xs"
        clearable
        placeholder={statuses ? '' : 'all'}
        data={statusChoices}
        value={listOf(statuses)}
        onChange={(next) => filter('statuses', next)}
      />
    </div>
  );
}

function useDeployments(id: string) {
  const [{ page: text, types, statuses }] = useSearchState();
  const page = Math.max(1, Number(text ?? 1) || 1);
  const query = usePage('listDeployments', {
    params: { id },
    query: {
      limit: pageSize,
      offset: (page - 1) * pageSize,
      ...(types ? { deploymentTypes: types } : {}),
      ...(statuses ? { statuses } : {}),
    },
  });
  return { page, query, isFiltered: Boolean(types ?? statuses) };
}

export default function DeploymentsTab({ environment }: EnvironmentProps) {
  const { id } = environment;
  const [, setSearch] = useSearchState();
  const { page, query, isFiltered } = useDeployments(id);
  return (
    <>
      <Filters />
      <Loaded query={query}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <EmptyState
              title={isFiltered ? 'No matching deployments' : 'It was never deployed'}
              call={callOf('Deploy it', 'deployEnvironment', { params: { id }, body: {} }, ['deploy', id])}
            />
          ) : (
            <>
              <DeploymentTable label="Deployments" rows={rows} />
              {total > pageSize && (
                <Pagination
                  mt="sm"
                  size="sm"
                  total={Math.ceil(total / pageSize)}
                  value={page}
                  onChange={(next) => setSearch({ page: next === 1 ? undefined : String(next) }, true)}
                  getControlProps={(control) => ({ 'aria-label': `${control} page` })}
                />
              )}
            </>
          )
        }
      </Loaded>
    </>
  );
}
