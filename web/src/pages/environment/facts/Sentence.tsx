/** Current activity of an environment, in a sentence. */
import { Link } from '@tanstack/react-router';
import { planText } from '#contract/deployments/plan-counts.ts';
import { deploymentTypeWords } from '../../../design/words.ts';
import { Duration, TimeAgo } from '../../../ui/Time.tsx';
import type { EnvironmentReply } from './reads.ts';

type Latest = NonNullable<EnvironmentReply['latestDeploymentLog']>;

function Waiting({
  environment,
  latest,
}: {
  readonly environment: EnvironmentReply;
  readonly latest: Latest;
}) {
  const { waitingFor } = environment;
  if (waitingFor?.kind === 'approval')
    return (
      <>
        Waiting for approval
        {latest.planSummary ? `: ${planText({ ...latest, planSummary: latest.planSummary })}` : ''} ·
        requested <TimeAgo at={waitingFor.since} />
      </>
    );
  if (waitingFor?.kind === 'deployment')
    return (
      <>
        Queued behind{' '}
        {waitingFor.id ? (
          <Link to="/deployments/$deploymentId" params={{ deploymentId: waitingFor.id }}>
            another deployment
          </Link>
        ) : (
          'another deployment'
        )}{' '}
        · for <Duration since={waitingFor.since} />
      </>
    );
  return (
    <>
      {waitingFor?.text.replace(/ since \d{4}-\d\d-\d\dT[\d:.]+Z/, '')} ·{' '}
      {waitingFor && (
        <>
          for <Duration since={waitingFor.since} />
        </>
      )}
    </>
  );
}

const endWords: Readonly<Partial<Record<Latest['status'], string>>> = {
  SUCCESS: 'succeeded',
  FAILURE: 'failed',
  INTERNAL_FAILURE: 'failed because of the service',
  TIMEOUT: 'timed out',
  CANCELLED: 'was cancelled',
  ABORTED: 'was aborted',
  SKIPPED: 'was skipped',
};

const openWords: Readonly<Partial<Record<Latest['status'], string>>> = {
  ABORTING: 'is being aborted',
  QUEUED: 'is queued',
  WAITING_FOR_USER: 'waits for approval',
};

/** The latest deployment: what it was, who requested it, how it ended. */
export function LatestSentence({ latest }: { readonly latest: Latest }) {
  const { type, status, startedByUser, startedAt, finishedAt, queuedAt } = latest;
  const what = deploymentTypeWords[type];
  const who = startedByUser?.name;
  const by = who ? (
    <>
      {' '}
      by <bdi>{who}</bdi>
    </>
  ) : null;
  if (endWords[status] !== undefined && finishedAt)
    return (
      <>
        {what}
        {by} {endWords[status]} <TimeAgo at={finishedAt} />
        {startedAt && (
          <>
            , after <Duration since={startedAt} until={finishedAt} />
          </>
        )}
      </>
    );
  const word = openWords[status] ?? 'is running';
  return (
    <>
      {what}
      {by} {word} · for <Duration since={startedAt ?? queuedAt ?? ''} />
    </>
  );
}

export function Sentence({ environment }: { readonly environment: EnvironmentReply }) {
  const { waitingFor, latestDeploymentLog: latest, queueLength } = environment;
  if (!latest || latest.status === 'NEVER_DEPLOYED') return <>It was never deployed.</>;
  return (
    <>
      {waitingFor ? (
        <Waiting environment={environment} latest={latest} />
      ) : (
        <LatestSentence latest={latest} />
      )}
      {queueLength > 0 && ` · ${queueLength} queued behind it`}
    </>
  );
}
