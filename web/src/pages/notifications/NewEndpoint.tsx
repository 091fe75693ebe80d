/** Stores a notification endpoint. */
import { useForm } from '@mantine/form';
import { showDone } from '../../api/messages.ts';
import { useSession } from '../../api/session.ts';
import { useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { EndpointFields, newEndpoint, secretOf, validate } from './EndpointFields.tsx';

export function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const { organizationId } = useSession();
  const { open } = useOpenRow();
  const form = useForm({ initialValues: newEndpoint, validate });
  const { change, problem } = useChangeForm('createNotificationEndpoint', {
    form,
    refreshes: ['listNotificationEndpoints'],
    onSuccess: ({ id }) => {
      showDone('The endpoint was stored: test it, then assign it to a project');
      onClose();
      open(id);
    },
  });
  return (
    <FormDialog
      title="New endpoint"
      lead="Nothing is sent to it until a project assigns events to it."
      verb="Store endpoint"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => {
        const { name, type, value } = values;
        const webhookSecret = secretOf(values);
        change.mutate({
          body: { organizationId, name, type, value, ...(webhookSecret ? { webhookSecret } : {}) },
        });
      })}
    >
      <EndpointFields form={form} />
    </FormDialog>
  );
}
