/** The versions of an environment's state: who made them, what differs, and what can be done with them. */

import { usePage } from '../../../api/queries.ts';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { useSearchState } from '../../../ui/search.ts';
import classes from '../facts/environment.module.css';
import type { EnvironmentProps } from '../facts/reads.ts';
import { Comparison } from '../state/Comparison.tsx';
import { ImportState } from '../state/ImportState.tsx';
import { StateAccess } from '../state/StateAccess.tsx';
import { StateLock } from '../state/StateLock.tsx';
import { StateVersions } from '../state/StateVersions.tsx';

const pageSize = 25;

function NoVersions({ environment }: Pick<EnvironmentProps, 'environment'>) {
  const { id, isRemoteBackend } = environment;
  return (
    <EmptyState
      title="The service has no state of this environment"
      call={callOf('Import a state', 'importState', { params: { id } } as never, [
        ...['state', 'push', id, 'terraform.tfstate'],
      ])}
    >
      {isRemoteBackend
        ? 'The first deployment stores one.'
        : 'Either it was never deployed, or its code names a backend of its own, where the state stays.'}
    </EmptyState>
  );
}

function Versions(props: EnvironmentProps) {
  const { id } = props.environment;
  const [{ page: text }, setSearch] = useSearchState();
  const page = Math.max(1, Number(text ?? 1) || 1);
  const query = usePage('listStateVersions', {
    params: { id },
    query: { limit: pageSize, offset: (page - 1) * pageSize },
  });
  return (
    <Loaded query={query}>
      {({ rows, total }) =>
        rows.length === 0 ? (
          <NoVersions environment={props.environment} />
        ) : (
          <StateVersions
            {...props}
            versions={rows}
            pages={Math.ceil(total / pageSize)}
            page={page}
            onPage={(next) => setSearch({ page: next === 1 ? undefined : String(next) }, true)}
          />
        )
      }
    </Loaded>
  );
}

export default function StateTab(props: EnvironmentProps) {
  const { rights } = props;
  const [{ compare, with: other }] = useSearchState();
  const whyNot = rights.isKnown ? rights.whyNot('READ_STATE') : undefined;
  return (
    <>
      <StateLock {...props} />
      {whyNot === undefined ? (
        <>
          {compare !== undefined && <Comparison id={compare} other={other} />}
          <section className={classes.section} aria-label="Versions">
            <div className={classes.head}>
              <h2>Versions</h2>
              <ImportState {...props} />
            </div>
            {rights.isKnown && <Versions {...props} />}
          </section>
        </>
      ) : (
        <section className={classes.section}>
          <h2>Versions</h2>
          <p className={classes.hint}>States contain secrets in plain text. {whyNot}</p>
        </section>
      )}
      <StateAccess {...props} />
    </>
  );
}
