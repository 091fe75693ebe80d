/** Stores a notification endpoint. */
import { useSession } from '../../api/session.ts';
import { NewRecord } from '../../records/NewRecord.tsx';
import { bodyOf, EndpointFields, newEndpoint, validate } from './EndpointFields.tsx';

export function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
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
