/** Questions before an environment is destroyed, locked, archived or deleted. */
import { Textarea } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { showDone } from '../../../api/messages.ts';
import { useChange } from '../../../api/queries.ts';
import { FormDialog } from '../../../records/FormDialog.tsx';
import { Confirm } from '../../../ui/Confirm.tsx';
import { deploymentReads, type EnvironmentProps, environmentReads } from '../facts/reads.ts';

export interface DialogProps extends EnvironmentProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** As it was when the dialog was opened: a change by another user must not turn the question around. */
function useAsOpened<Value>(isOpen: boolean, value: Value): Value {
  const [asOpened, keep] = useState(value);
  if (!isOpen && asOpened !== value) keep(value);
  return asOpened;
}

export function DestroyDialog({ environment, isOpen, onClose }: DialogProps) {
  const navigate = useNavigate();
  const [comment, setComment] = useState('');
  const destroy = useChange('destroyEnvironment', {
    refreshes: deploymentReads,
    onSuccess: ({ id }) => {
      onClose();
      void navigate({ to: '/deployments/$deploymentId', params: { deploymentId: id } });
    },
  });
  const { id, name, resources, requiresApproval } = environment;
  return (
    <Confirm
      isOpen={isOpen}
      title="Destroy everything that it created?"
      verb="Destroy"
      typed={name}
      isBusy={destroy.isPending}
      onClose={onClose}
      onConfirm={() => destroy.mutate({ params: { id }, body: comment === '' ? {} : { comment } })}
    >
      <p>
        <bdi>{name}</bdi> {resources ? `has ${resources.length} resources. ` : ''}
        {requiresApproval
          ? 'The plan waits for approval before anything is destroyed.'
          : 'It is destroyed at once: this environment needs no approval.'}{' '}
        The environment itself, its history and its state versions stay.
      </p>
      <Textarea
        label="Comment"
        autosize
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
    </Confirm>
  );
}

export function LockDialog({ environment, onClose }: Omit<DialogProps, 'isOpen'>) {
  const { id } = environment;
  // As it was when the dialog was opened: a change by another user must not turn the question around.
  const [isLocked] = useState(environment.isLocked);
  const [reason, setReason] = useState('');
  const lock = useChange('setEnvironmentLock', {
    refreshes: environmentReads,
    onSuccess: () => {
      showDone(isLocked ? 'Unlocked' : 'Locked');
      onClose();
    },
    onError: () => true,
  });
  return (
    <FormDialog
      title={isLocked ? 'Unlock the environment?' : 'Lock the environment'}
      lead={
        isLocked
          ? 'It accepts deployments again.'
          : 'Until it is unlocked, it accepts no deployments of any type. Running deployments continue.'
      }
      verb={isLocked ? 'Unlock' : 'Lock'}
      isBusy={lock.isPending}
      problem={lock.error}
      onSubmit={() =>
        lock.mutate({ params: { id }, body: { isLocked: !isLocked, ...(reason ? { reason } : {}) } })
      }
      onClose={onClose}
    >
      {!isLocked && (
        <Textarea
          label="Reason"
          description="Shown to everyone whose deployment is refused"
          autosize
          data-autofocus
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}

export function ArchiveDialog({ environment, isOpen, onClose }: DialogProps) {
  const { id, name, status } = environment;
  const isArchived = useAsOpened(isOpen, environment.isArchived);
  const archive = useChange('updateEnvironment', {
    refreshes: environmentReads,
    onSuccess: () => {
      showDone(isArchived ? 'Restored' : 'Archived');
      onClose();
    },
  });
  return (
    <Confirm
      isOpen={isOpen}
      title={isArchived ? 'Restore the environment?' : 'Archive the environment?'}
      verb={isArchived ? 'Restore' : 'Archive'}
      isBusy={archive.isPending}
      onClose={onClose}
      onConfirm={() => archive.mutate({ params: { id }, body: { isArchived: !isArchived } })}
    >
      {isArchived ? (
        <p>
          <bdi>{name}</bdi> accepts deployments again. Its schedules resume.
        </p>
      ) : (
        <p>
          Nothing is destroyed
          {status === 'ACTIVE' || status === 'DRIFTED' ? ': what it created keeps running' : ''}. Deployments
          that are queued or wait for approval are cancelled. Lifetime and schedules are suspended.
        </p>
      )}
    </Confirm>
  );
}

export function DeleteDialog({ environment, isOpen, onClose }: DialogProps) {
  const navigate = useNavigate();
  const { id, name } = environment;
  const remove = useChange('deleteEnvironment', {
    refreshes: ['listEnvironments'],
    onSuccess: () => {
      showDone(`Deleted ${name}`);
      void navigate({ to: '/environments' });
    },
  });
  return (
    <Confirm
      isOpen={isOpen}
      title="Delete the environment?"
      verb="Delete"
      typed={name}
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      <p>
        Its deployments, logs, variables and schedules are deleted with it; only the audit log keeps its
        events. The service refuses this for an environment that ever had resources: destroy and archive such
        a one.
      </p>
    </Confirm>
  );
}
