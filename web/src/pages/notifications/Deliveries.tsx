/** Sent and waiting deliveries, with filters in the address. */
import { Select } from '@mantine/core';
import {
  deliveryStatuses,
  notificationEvents,
  notificationEventWords,
} from '#contract/notifications/events.ts';
import { type Reply, usePage, useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Status } from '../../design/status.tsx';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { NextPages } from '../../records/NextPages.tsx';
import records from '../../records/records.module.css';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { type Search, useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { DeliveryDetail } from './DeliveryDetail.tsx';
import { deliveryLooks } from './looks.ts';

type ListedDelivery = Reply<'listNotificationDeliveries'>['deliveries'][number];

const columns: readonly Column<ListedDelivery>[] = [
  {
    id: 'event',
    head: 'Event',
    cell: ({ id, eventName }) => <OpenLink id={id}>{notificationEventWords[eventName]}</OpenLink>,
  },
  { id: 'environment', head: 'Environment', cell: ({ environmentName }) => <bdi>{environmentName}</bdi> },
  { id: 'endpoint', head: 'Endpoint', isMinor: true, cell: ({ endpointName }) => <bdi>{endpointName}</bdi> },
  { id: 'status', head: 'Status', cell: ({ status }) => <Status look={deliveryLooks[status]} /> },
  { id: 'attempts', head: 'Attempts', isNumber: true, isMinor: true, cell: ({ attempts }) => attempts },
  { id: 'at', head: 'When', isMinor: true, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];

/** Attempts are not announced: what waits is looked at again. */
const lookAgainMilliseconds = 5000;
const isWaiting = ({ status }: ListedDelivery) => status === 'waiting';

function find<Word extends string>(words: readonly Word[], text: string | undefined): Word | undefined {
  return words.find((word) => word === text);
}

/** The filters of the address as the service takes them; words that it does not know are left out. */
function filtersOf({ endpoint, project, event, status, after }: Search) {
  const eventName = find(notificationEvents, event);
  const known = find(deliveryStatuses, status);
  return {
    ...(endpoint ? { endpointId: endpoint } : {}),
    ...(project ? { projectId: project } : {}),
    ...(eventName ? { eventName } : {}),
    ...(known ? { status: known } : {}),
    ...(after ? { offset: after } : {}),
  };
}

function Filters() {
  const { organizationId } = useSession();
  const [search, change] = useSearchState();
  const endpoints = useRead('listNotificationEndpoints', { query: { organizationId } });
  const set = (changes: Search) => change({ ...changes, after: undefined, open: undefined });
  return (
    <div className={records.filters}>
      <Select
        label="Status"
        placeholder="Any"
        clearable
        data={deliveryStatuses.map((value) => ({ value, label: deliveryLooks[value].word }))}
        value={search.status ?? null}
        onChange={(status) => set({ status: status ?? undefined })}
      />
      <Select
        label="Endpoint"
        placeholder="All"
        clearable
        data={(endpoints.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={search.endpoint ?? null}
        onChange={(endpoint) => set({ endpoint: endpoint ?? undefined })}
      />
      <Select
        label="Event"
        placeholder="All"
        clearable
        searchable
        data={notificationEvents.map((value) => ({ value, label: notificationEventWords[value] }))}
        value={search.event ?? null}
        onChange={(event) => set({ event: event ?? undefined })}
      />
      <ProjectSelect
        label="Project"
        placeholder="All"
        clearable
        value={search.project ?? ''}
        onChange={(project) => set({ project: project || undefined })}
      />
    </div>
  );
}

export function Deliveries({ whyNot }: { readonly whyNot: string | undefined }) {
  const { organizationId } = useSession();
  const [search] = useSearchState();
  const { open, openId, close } = useOpenRow();
  const page = usePage(
    'listNotificationDeliveries',
    { query: { organizationId, ...filtersOf(search) } },
    {
      enabled: whyNot === undefined,
      againAfter: (page) => (page?.deliveries.some(isWaiting) ? lookAgainMilliseconds : false),
    },
  );
  if (whyNot !== undefined) return <EmptyState title="You cannot see deliveries">{whyNot}</EmptyState>;
  return (
    <>
      <Filters />
      <Loaded query={page} lines={8}>
        {({ rows: { deliveries, nextPageKey } }) => (
          <>
            {deliveries.length === 0 ? (
              <EmptyState title="No matching deliveries">
                Deliveries are kept for 30 days. One appears as soon as something happens that an endpoint
                receives.
              </EmptyState>
            ) : (
              <DataTable
                label="Deliveries"
                columns={columns}
                rows={deliveries}
                idOf={({ id }) => id}
                onOpen={({ id }) => open(id)}
              />
            )}
            <NextPages nextPageKey={nextPageKey} />
          </>
        )}
      </Loaded>
      {openId !== undefined && <DeliveryDetail key={openId} id={openId} onClose={close} />}
    </>
  );
}
