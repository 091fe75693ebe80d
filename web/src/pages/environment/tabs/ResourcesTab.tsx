/** Resources of an environment, by module and type. */

import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import { useLiveResources } from '../../../api/live.ts';
import { useRead } from '../../../api/queries.ts';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { useSearchState } from '../../../ui/search.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import { useLastChanges } from '../facts/last-change.ts';
import type { EnvironmentProps } from '../facts/reads.ts';
import { findResources, linesOf, type ResourceLine } from '../facts/resources.ts';

function Line({ line }: { readonly line: ResourceLine }) {
  if (line.kind === 'module')
    return (
      <h2 className={classes.module}>
        {line.name === '' ? 'Root module' : <bdi>{line.name}</bdi>}{' '}
        <span className={classes.faint}>{line.count}</span>
      </h2>
    );
  if (line.kind === 'type')
    return (
      <h3 className={classes.resourceType}>
        <bdi>{line.name}</bdi> <span className={classes.faint}>{line.count}</span>
        <span className={classes.provider}>{line.provider}</span>
      </h3>
    );
  return (
    <code className={classes.resource}>
      <bdi>{line.resource.name}</bdi>
    </code>
  );
}

const heights = { module: 40, type: 32, resource: 28 } as const;

/** Only the lines in sight are in the page: thousands scroll as a few do. */
function Lines({ lines }: { readonly lines: readonly ResourceLine[] }) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    // The place of the list in the page is known only once it is there.
    const top = list.current?.getBoundingClientRect().top ?? 0;
    setOffset(top + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (at) => heights[lines[at]!.kind],
    overscan: 30,
    scrollMargin: offset,
  });
  return (
    <div ref={list} className={classes.resources} role="list" aria-label="Resources">
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            role="listitem"
            aria-setsize={lines.length}
            aria-posinset={index + 1}
            className={classes.line}
            style={{ transform: `translateY(${start - offset}px)` }}
          >
            <Line line={lines[index]!} />
          </div>
        ))}
      </div>
    </div>
  );
}

function NoResources({ environment }: Pick<EnvironmentProps, 'environment'>) {
  const { id, status } = environment;
  return (
    <EmptyState
      title={status === 'INACTIVE' ? 'It is destroyed: nothing is left' : 'No resources yet'}
      call={callOf('Deploy it', 'deployEnvironment', { params: { id }, body: {} }, [
        'deploy',
        id,
        '--follow',
      ])}
    >
      What a deployment creates is listed here, by module and type.
    </EmptyState>
  );
}

function Listed({
  environment,
  deploymentId,
  at,
}: EnvironmentProps & { deploymentId: string; at: string | undefined }) {
  const [{ find = '' }, setSearch] = useSearchState();
  const query = useRead('listDeploymentResources', { params: { id: deploymentId } });
  useLiveResources(at === undefined ? deploymentId : undefined);
  return (
    <Loaded query={query}>
      {(all) => {
        if (all.length === 0) return <NoResources environment={environment} />;
        const found = findResources(all, find);
        return (
          <>
            <div className={classes.head}>
              <SearchBox
                label="Find a resource"
                value={find}
                onSearch={(text) => setSearch({ find: text })}
              />
              <span className={classes.faint} role="status">
                {found.length === all.length ? `${all.length} resources` : `${found.length} of ${all.length}`}
                , after{' '}
                <Link to="/deployments/$deploymentId" params={{ deploymentId }}>
                  the deployment
                </Link>{' '}
                {at && <TimeAgo at={at} />}
              </span>
            </div>
            {found.length === 0 ? <p>No resource has “{find}” in it.</p> : <Lines lines={linesOf(found)} />}
          </>
        );
      }}
    </Loaded>
  );
}

export default function ResourcesTab(props: EnvironmentProps) {
  const { environment } = props;
  const query = useLastChanges(environment.id);
  return (
    <Loaded query={query}>
      {({ rows }) => {
        const changed = rows.find(
          ({ resourceCount, finishedAt, status }) =>
            typeof resourceCount === 'number' && (finishedAt || status === 'IN_PROGRESS'),
        );
        if (changed?.id === undefined) return <NoResources environment={environment} />;
        return <Listed {...props} deploymentId={changed.id} at={changed.finishedAt ?? undefined} />;
      }}
    </Loaded>
  );
}
