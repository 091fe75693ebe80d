/** One delivery, with every attempt; it can be sent again. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { notificationEventWords } from '#contract/notifications/events.ts';
import { showDone } from '../../api/messages.ts';
import { type Reply, read, useChange } from '../../api/queries.ts';
import { Status } from '../../design/status.tsx';
import { Detail } from '../../records/Detail.tsx';
import { Part } from '../../records/Part.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { Answer, SentMessage } from './Exchange.tsx';
import { deliveryLooks } from './looks.ts';

type DeliveryReply = Reply<'getNotificationDelivery'>;

const refreshes = ['listNotificationDeliveries', 'getNotificationDelivery'] as const;
/** While it waits, the next attempt shows soon. */
const lookAgainMilliseconds = 2000;

function What({ delivery }: { readonly delivery: DeliveryReply }) {
  const { status, environmentId, environmentName, deploymentLogId, nextAttemptAt } = delivery;
  return (
    <Facts
      facts={[
        ['Status', <Status key="status" look={deliveryLooks[status]} />],
        ['Endpoint', <bdi key="endpoint">{delivery.endpointName}</bdi>],
        [
          'Environment',
          environmentId && (
            <Link key="environment" to="/environments/$environmentId" params={{ environmentId }}>
              <bdi>{environmentName}</bdi>
            </Link>
          ),
        ],
        [
          'Project',
          !environmentId && (
            <Link
              key="project"
              to="/projects/$projectId"
              params={{ projectId: delivery.projectId }}
              search={{ tab: 'discovery' }}
            >
              Environment discovery
            </Link>
          ),
        ],
        [
          'Deployment',
          deploymentLogId && (
            <Link key="deployment" to="/deployments/$deploymentId" params={{ deploymentId: deploymentLogId }}>
              Show it
            </Link>
          ),
        ],
        ['Happened', <TimeAgo key="at" at={delivery.createdAt} />],
        ['Next attempt', nextAttemptAt && <TimeAgo key="next" at={nextAttemptAt} />],
        ['Id of the event', <code key="event">{delivery.eventId}</code>],
      ]}
    />
  );
}

function Resend({ id }: { readonly id: string }) {
  const resend = useChange('resendNotificationDelivery', {
    refreshes,
    onSuccess: () => showDone('It is being sent again'),
  });
  return (
    <div>
      <ActionButton
        size="xs"
        variant="default"
        loading={resend.isPending}
        onClick={() => resend.mutate({ params: { id } })}
      >
        Send again
      </ActionButton>
    </div>
  );
}

export function DeliveryDetail({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const found = useQuery({
    ...read('getNotificationDelivery', { params: { id } }),
    refetchInterval: ({ state }) => (state.data?.status === 'waiting' ? lookAgainMilliseconds : false),
  });
  const title = found.data ? notificationEventWords[found.data.eventName] : 'Delivery';
  return (
    <Detail title={title} onClose={onClose}>
      <Loaded query={found}>
        {(delivery) => (
          <>
            <What delivery={delivery} />
            <Resend id={id} />
            {delivery.tries.toReversed().map((attempt) => (
              <Part key={attempt.number} title={`Attempt ${attempt.number}`}>
                <p>
                  <TimeAgo at={attempt.startedAt} />
                </p>
                <Answer {...attempt} />
              </Part>
            ))}
            {delivery.request && (
              <Part title="What was sent">
                <SentMessage request={delivery.request} />
              </Part>
            )}
          </>
        )}
      </Loaded>
    </Detail>
  );
}
