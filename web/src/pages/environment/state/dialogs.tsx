/** Questions before a state version becomes the current one, or is deleted. */
import { Textarea } from '@mantine/core';
import { useState } from 'react';
import type { StateVersion } from '#contract/state/shapes.ts';
import { showDone } from '../../../api/messages.ts';
import { useChange } from '../../../api/queries.ts';
import { FormDialog } from '../../../records/FormDialog.tsx';
import { Confirm } from '../../../ui/Confirm.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import { environmentReads } from '../facts/reads.ts';
import { AcceptLineage } from './AcceptLineage.tsx';
import { versionName } from './words.ts';

const refreshes = [...environmentReads, 'listStateVersions'] as const;

interface VersionDialogProps {
  readonly version: StateVersion;
  readonly onClose: () => void;
}

/** Rolls back, or promotes a rescued version: both make a new version with the content of this one. */
function useRestore({ version, onClose }: VersionDialogProps) {
  const isRescued = version.standing === 'rescued';
  const onSuccess = ({ serial }: { readonly serial: number | null }) => {
    showDone(`Serial ${serial ?? ''} is current now`);
    onClose();
  };
  const options = { refreshes, onSuccess, onError: () => true };
  const rollBack = useChange('rollBackState', options);
  const promote = useChange('promoteStateVersion', options);
  const params = { id: version.id };
  return {
    isRescued,
    error: rollBack.error ?? promote.error,
    isBusy: rollBack.isPending || promote.isPending,
    send: (comment: string, acceptOtherLineage: boolean) => {
      const body = comment === '' ? {} : { comment };
      if (isRescued)
        promote.mutate({ params, body: { ...body, ...(acceptOtherLineage ? { acceptOtherLineage } : {}) } });
      else rollBack.mutate({ params, body });
    },
  };
}

export function RestoreDialog(props: VersionDialogProps) {
  const { version, onClose } = props;
  const { isRescued, error, isBusy, send } = useRestore(props);
  const [comment, setComment] = useState('');
  const [isAccepted, setIsAccepted] = useState(false);
  return (
    <FormDialog
      title={isRescued ? 'Make the version current?' : 'Roll back to the version?'}
      lead={
        <>
          A new version with the content of {versionName(version)}, made <TimeAgo at={version.createdAt} />,
          becomes current. No version is lost, and no resource changes: the next plan shows the difference.
          Existing plans are outdated.
        </>
      }
      verb={isRescued ? 'Make it current' : 'Roll back'}
      cancel="Keep the current one"
      isDangerous
      isBusy={isBusy}
      problem={error}
      onSubmit={() => send(comment.trim(), isAccepted)}
      onClose={onClose}
    >
      <Textarea
        label="Reason"
        data-autofocus
        autosize
        maxLength={1000}
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
      {isRescued && <AcceptLineage error={error} isAccepted={isAccepted} onChange={setIsAccepted} />}
    </FormDialog>
  );
}

export function DeleteVersionDialog({ version, onClose }: VersionDialogProps) {
  const remove = useChange('deleteStateVersion', {
    refreshes,
    onSuccess: () => {
      showDone('Deleted');
      onClose();
    },
  });
  return (
    <Confirm
      isOpen
      title="Delete the rescued version?"
      verb="Delete"
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id: version.id } })}
    >
      <p>
        {versionName(version)} cannot be restored afterwards. It may be the only place that knows some
        resources: compare it with the current version first.
      </p>
    </Confirm>
  );
}
