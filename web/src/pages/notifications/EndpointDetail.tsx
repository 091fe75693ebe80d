/** One endpoint: tested, changed and deleted. */
import { Alert } from '@mantine/core';
import { type Reply, type Tagged, useChange, useTagged } from '../../api/queries.ts';
import { Detail } from '../../records/Detail.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { Removal } from '../../records/Removal.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { bodyOf, EndpointFields, type EndpointValues, validate } from './EndpointFields.tsx';
import { Answer, SentMessage } from './Exchange.tsx';
import { typeWords } from './looks.ts';

export type Endpoint = Reply<'listNotificationEndpoints'>[number];

const refreshes = ['listNotificationEndpoints', 'getNotificationEndpoint'] as const;

export interface EndpointDetailProps {
  readonly endpoint: Endpoint;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

function Test({ endpoint, whyNot }: Pick<EndpointDetailProps, 'endpoint' | 'whyNot'>) {
  const test = useChange('testNotificationEndpoint', { refreshes: [] });
  const { data } = test;
  return (
    <Part
      title="Test"
      lead="Sends a test message now, once."
      actions={
        <ActionButton
          size="xs"
          whyNot={whyNot}
          loading={test.isPending}
          onClick={() => test.mutate({ params: { id: endpoint.id } })}
        >
          Send a test
        </ActionButton>
      }
    >
      <div aria-live="polite">
        {data && (
          <>
            <Answer {...data} />
            <SentMessage request={data.request} />
          </>
        )}
      </div>
    </Part>
  );
}

const valuesOf = ({ name, type, value }: Endpoint): EndpointValues => ({
  ...{ name, type, value },
  ...{ webhookSecret: '', isSecretRemoved: false },
});

function Settings({ record }: { readonly record: Tagged<Endpoint> }) {
  const { id, hasWebhookSecret } = record.data;
  return (
    <RecordForm
      record={record}
      valuesOf={valuesOf}
      validate={validate}
      operation="updateNotificationEndpoint"
      refreshes={refreshes}
      inputOf={(values) => ({ params: { id }, body: bodyOf(values) })}
      storedOf={(_sent, saved) => valuesOf(saved)}
      done="The endpoint was changed"
    >
      {(form) => <EndpointFields form={form} hasSecret={hasWebhookSecret} />}
    </RecordForm>
  );
}

export function EndpointDetail({ endpoint, whyNot, onClose }: EndpointDetailProps) {
  const found = useTagged('getNotificationEndpoint', { params: { id: endpoint.id } });
  return (
    <Detail title={endpoint.name} onClose={onClose}>
      {endpoint.problem !== undefined && (
        <Alert color="yellow" mb="md">
          {endpoint.problem}. Deliveries fail until it is.
        </Alert>
      )}
      <Facts
        facts={[
          ['Type', typeWords[endpoint.type].label],
          ['Created by', <bdi key="by">{nameOfUser(endpoint.createdByUser)}</bdi>],
          ['Changed', <TimeAgo key="changed" at={endpoint.updatedAt} />],
          ['Id', <code key="id">{endpoint.id}</code>],
        ]}
      />
      <Test endpoint={endpoint} whyNot={whyNot} />
      <Part title="Settings">
        {whyNot === undefined ? (
          <Loaded query={found} lines={4}>
            {(read) => <Settings record={read} />}
          </Loaded>
        ) : (
          <p>{whyNot}</p>
        )}
      </Part>
      <div>
        <Removal
          operation="deleteNotificationEndpoint"
          input={{ params: { id: endpoint.id } }}
          refreshes={[...refreshes, 'listNotificationDeliveries', 'listNotificationAssignments']}
          label="Delete endpoint"
          question={`Delete ${endpoint.name}?`}
          done="The endpoint was deleted"
          whyNot={whyNot}
          onDone={onClose}
        >
          <p>Its assignments and its deliveries are deleted with it; what still waits is not sent.</p>
        </Removal>
      </div>
    </Detail>
  );
}
