/** Endpoints that hear of events, and what was sent to them. */
import { useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { NewRecord } from '../../records/NewRecord.tsx';
import { RecordsTable } from '../../records/RecordsPage.tsx';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { Deliveries } from './Deliveries.tsx';
import { type Endpoint, EndpointDetail } from './EndpointDetail.tsx';
import { bodyOf, EndpointFields, newEndpoint, validate } from './EndpointFields.tsx';
import { typeWords } from './looks.ts';

/** Stores a notification endpoint. */
function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const { organizationId } = useSession();
  return (
    <NewRecord
      title="New endpoint"
      lead="Nothing is sent to it until a project assigns events to it."
      verb="Store endpoint"
      done="The endpoint was stored: test it, then assign it to a project"
      operation="createNotificationEndpoint"
      refreshes={['listNotificationEndpoints']}
      initialValues={newEndpoint}
      validate={validate}
      inputOf={(values) => ({ body: { organizationId, ...bodyOf(values) } })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => <EndpointFields form={form} />}
    </NewRecord>
  );
}

const columns: readonly Column<Endpoint>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  {
    id: 'type',
    head: 'Type',
    cell: ({ type, problem }) =>
      problem === undefined ? typeWords[type].label : `${typeWords[type].label}: ${problem}`,
  },
  { id: 'value', head: 'Where', isMinor: true, cell: ({ value }) => <code>{value}</code> },
  { id: 'changed', head: 'Changed', isMinor: true, cell: ({ updatedAt }) => <TimeAgo at={updatedAt} /> },
];

function createCall(organizationId: string) {
  const [name, value] = ['operations', 'https://hooks.slack.com/services/…'];
  return callOf(
    'Store an endpoint',
    'createNotificationEndpoint',
    { body: { organizationId, name, type: 'Slack', value } },
    ['notifications', 'endpoints', 'create', name, '--type', 'Slack', '--value', value],
  );
}

function Endpoints({ whyNot }: { readonly whyNot: string | undefined }) {
  const { organizationId } = useSession();
  const { openId, close } = useOpenRow();
  const endpoints = useRead('listNotificationEndpoints', { query: { organizationId } });
  const opened = endpoints.data?.find(({ id }) => id === openId);
  return (
    <>
      <Loaded query={endpoints}>
        {(rows) => (
          <RecordsTable
            label="Notification endpoints"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            empty={
              <EmptyState title="No endpoints yet" call={createCall(organizationId)}>
                An endpoint is a channel of Slack or Teams, some mailboxes, or a webhook. Each project then
                says which events it receives.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {opened && <EndpointDetail key={opened.id} endpoint={opened} whyNot={whyNot} onClose={close} />}
    </>
  );
}

export function NotificationsPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="Notifications"
      lead="Slack, Teams, e-mail and webhooks that receive events of deployments, drift and lifetimes. A project chooses the events in its tab Notifications."
      calls={[
        callOf('List endpoints', 'listNotificationEndpoints', { query: { organizationId } }, [
          ...['notifications', 'endpoints', 'list'],
        ]),
        callOf('List deliveries', 'listNotificationDeliveries', { query: { organizationId } }, [
          ...['notifications', 'deliveries'],
        ]),
        createCall(organizationId),
      ]}
      actions={
        <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
          New endpoint
        </ActionButton>
      }
    >
      <UrlTabs
        tabs={[
          { value: 'endpoints', label: 'Endpoints', content: () => <Endpoints whyNot={whyNot} /> },
          { value: 'deliveries', label: 'Deliveries', content: () => <Deliveries whyNot={whyNot} /> },
        ]}
      />
      {isCreating && <NewEndpoint onClose={() => setCreating(false)} />}
    </Page>
  );
}
