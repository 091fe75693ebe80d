/** Notices before any action: lock, archive, end of the lifetime. */
import { Button } from '@mantine/core';
import { useChange } from '../../api/queries.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { type EnvironmentProps, environmentReads } from './facts/reads.ts';

function Locked({ environment, rights }: EnvironmentProps) {
  const { lockStatus, id } = environment;
  const unlock = useChange('setEnvironmentLock', { refreshes: environmentReads });
  return (
    <Notice
      tone="wait"
      action={
        <ActionButton
          size="xs"
          variant="default"
          loading={unlock.isPending}
          whyNot={rights.whyNot('MANAGE_ENVIRONMENT_LOCK')}
          onClick={() => unlock.mutate({ params: { id }, body: { isLocked: false } })}
        >
          Unlock
        </ActionButton>
      }
    >
      <strong>Locked</strong>
      {lockStatus && (
        <>
          {' '}
          by <bdi>{lockStatus.updatedByUser?.name ?? lockStatus.updatedBy}</bdi>{' '}
          <TimeAgo at={lockStatus.updatedAt} />
        </>
      )}
      {lockStatus?.reason ? (
        <>
          : <bdi>{lockStatus.reason}</bdi>
        </>
      ) : (
        '.'
      )}{' '}
      It accepts no deployments; what runs continues.
    </Notice>
  );
}

function Archived({ environment, rights }: EnvironmentProps) {
  const restore = useChange('updateEnvironment', { refreshes: environmentReads });
  return (
    <Notice
      tone="idle"
      action={
        <ActionButton
          size="xs"
          variant="default"
          loading={restore.isPending}
          whyNot={rights.whyNot('ARCHIVE_ENVIRONMENT') ?? rights.whyNot('EDIT_ENVIRONMENT_SETTINGS')}
          onClick={() => restore.mutate({ params: { id: environment.id }, body: { isArchived: false } })}
        >
          Restore
        </ActionButton>
      }
    >
      <strong>Archived.</strong> Lifetime and schedules are suspended. What it created is unchanged. A
      deployment restores it too.
    </Notice>
  );
}

function Expiring({ at }: { readonly at: string }) {
  const [, setSearch] = useSearchState();
  return (
    <Notice
      tone="wait"
      action={
        <Button size="xs" variant="default" onClick={() => setSearch({ tab: 'schedule' }, true)}>
          Change
        </Button>
      }
    >
      Everything that it created is destroyed <TimeAgo at={at} />.
    </Notice>
  );
}

/** Two days before the end, as the service notices it too. */
const noticeMilliseconds = 2 * 86_400_000;

export function Notices({ environment, rights }: EnvironmentProps) {
  const { isLocked, isArchived, lifespanEndAt, markedForAutoDestroy, status, waitingFor } = environment;
  const isSoon =
    lifespanEndAt &&
    !isArchived &&
    status !== 'INACTIVE' &&
    // The sentence below the name reports the result of the end.
    waitingFor?.kind !== 'retry' &&
    (markedForAutoDestroy > 0 || Date.parse(lifespanEndAt) - performance.timeOrigin < noticeMilliseconds);
  return (
    <>
      {isLocked && <Locked environment={environment} rights={rights} />}
      {isArchived && <Archived environment={environment} rights={rights} />}
      {isSoon && <Expiring at={lifespanEndAt} />}
    </>
  );
}
