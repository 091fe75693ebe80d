/** Holder of the state: a deployment, or a tool outside of runs. */
import { Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { StateLock as Lock } from '#contract/state/shapes.ts';
import { showDone } from '../../../api/messages.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { FormDialog } from '../../../records/FormDialog.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { Notice } from '../../../ui/Notice.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import { isOpen } from '../facts/facts.ts';
import { type EnvironmentProps, environmentReads } from '../facts/reads.ts';

function FreeDialog({
  id,
  lock,
  onClose,
}: {
  readonly id: string;
  readonly lock: Lock;
  readonly onClose: () => void;
}) {
  const [reason, setReason] = useState('');
  const free = useChange('freeStateLock', {
    refreshes: ['getStateLock', ...environmentReads],
    onSuccess: () => {
      showDone('The lock is released');
      onClose();
    },
    onError: () => true,
  });
  return (
    <FormDialog
      title="Release the lock of the state?"
      lead="Do this if the tool was killed or forgotten. The service cannot see whether it still runs: if it does, what it stores afterwards is kept as a rescued version. Deployments that wait start."
      verb="Release"
      cancel="Keep it"
      isDangerous
      isBusy={free.isPending}
      problem={free.error}
      onSubmit={() =>
        free.mutate({ params: { id }, body: { lockId: lock.lockId, ...(reason ? { reason } : {}) } })
      }
      onClose={onClose}
    >
      <Textarea
        label="Reason"
        data-autofocus
        autosize
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </FormDialog>
  );
}

function Held({ environment, rights, lock }: EnvironmentProps & { readonly lock: Lock }) {
  const [isDialogOpen, setIsDialogOpen] = useState(false);
  const by = lock.heldByUser?.name ?? lock.heldBy;
  return (
    <>
      <Notice
        tone="wait"
        action={
          <ActionButton
            size="xs"
            variant="default"
            whyNot={rights.whyNot('FORCE_UNLOCK_WORKSPACE')}
            onClick={() => setIsDialogOpen(true)}
          >
            Release …
          </ActionButton>
        }
      >
        <strong>A tool outside of runs holds the state</strong>: <bdi>{lock.who ?? by}</bdi>, with the key{' '}
        <bdi>{by}</bdi>, since <TimeAgo at={lock.since} />
        {lock.operation ? (
          <>
            , for <code>{lock.operation}</code>
          </>
        ) : null}
        . Deployments wait until it is released.
      </Notice>
      {isDialogOpen && <FreeDialog id={environment.id} lock={lock} onClose={() => setIsDialogOpen(false)} />}
    </>
  );
}

export function StateLock(props: EnvironmentProps) {
  const { id, latestDeploymentLog: latest } = props.environment;
  const { data: lock } = useRead('getStateLock', { params: { id } });
  if (lock) return <Held {...props} lock={lock} />;
  if (latest?.id && isOpen(latest) && latest.status !== 'QUEUED')
    return (
      <p className={classes.hint}>
        <Link to="/deployments/$deploymentId" params={{ deploymentId: latest.id }}>
          A deployment
        </Link>{' '}
        holds the state
        {latest.startedAt ? (
          <>
            {' '}
            since <TimeAgo at={latest.startedAt} />
          </>
        ) : null}
        . No one else can write it until the deployment ends.
      </p>
    );
  return <p className={classes.hint}>The state is not locked.</p>;
}
