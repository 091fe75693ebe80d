/** The sentence that the page begins with, and who started the deployment, why, and from which code. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ChangeCounts } from '#contract/deployments/plan-counts.ts';
import type { Step } from '#contract/deployments/shapes.ts';
import { useRead } from '../../../api/queries.ts';
import { deploymentTypeWords, triggerWords } from '../../../design/words.ts';
import { TimeAgo, useNow } from '../../../ui/Time.tsx';
import type { DeploymentReply } from '../facts/reads.ts';
import { sentenceOf } from '../facts/sentence.ts';
import classes from './parts.module.css';
import { Remediation } from './Remediation.tsx';

export interface LeadProps {
  readonly deployment: DeploymentReply;
  readonly steps: readonly Step[];
  readonly counts: ChangeCounts | undefined;
}

const terseFields = 'id,type,status,startedAt';

/** The deployment that made this one redundant. */
function SkippedFor({ id }: { readonly id: string }) {
  const { data } = useRead('getDeployment', { params: { id }, query: { fields: terseFields } });
  return (
    <>
      {' · '}
      <Anchor component={Link} to="/deployments/$deploymentId" params={{ deploymentId: id } as never}>
        {data
          ? `Show the ${deploymentTypeWords[data.type].toLowerCase()} in its place`
          : 'Show the one in its place'}
      </Anchor>
    </>
  );
}

function Sentence({ deployment, steps, counts }: LeadProps) {
  const now = useNow();
  const { waitingFor } = deployment;
  const aheadId = waitingFor?.kind === 'deployment' ? waitingFor.id : undefined;
  const { data: ahead } = useRead(
    'getDeployment',
    { params: { id: aheadId ?? '' }, query: { fields: terseFields } },
    { enabled: aheadId !== undefined },
  );
  return (
    <p className={classes.sentence}>
      <bdi>{sentenceOf({ deployment, steps, counts, ahead, now })}</bdi>
      {aheadId !== undefined && (
        <>
          {' · '}
          <Anchor
            component={Link}
            to="/deployments/$deploymentId"
            params={{ deploymentId: aheadId } as never}
          >
            Show that one
          </Anchor>
        </>
      )}
      {deployment.skippedFor !== undefined && <SkippedFor id={deployment.skippedFor} />}
    </p>
  );
}

/** A commit by its first characters. */
function Commit({ deployment: { gitMetadata } }: Pick<LeadProps, 'deployment'>) {
  if (gitMetadata === undefined) return null;
  return (
    <span>
      commit <code title={gitMetadata.commit}>{gitMetadata.commit.slice(0, 10)}</code>
      {gitMetadata.branch !== '' && gitMetadata.branch !== gitMetadata.commit && (
        <>
          {' of '}
          <bdi>{gitMetadata.branch}</bdi>
        </>
      )}
    </span>
  );
}

export function Lead(props: LeadProps) {
  const { deployment } = props;
  const { startedByUser, trigger, comment, queuedAt, createdAt, targets = [] } = deployment;
  const at = queuedAt ?? createdAt;
  return (
    <>
      <Sentence {...props} />
      <div className={classes.by}>
        <span>
          Started by <bdi>{startedByUser.name}</bdi>
          {trigger !== undefined && trigger !== 'user' && ` ${triggerWords[trigger]}`}
          {at && (
            <>
              {' '}
              <TimeAgo at={at} />
            </>
          )}
        </span>
        {deployment.causedBy !== undefined && (
          <Anchor
            component={Link}
            to="/deployments/$deploymentId"
            params={{ deploymentId: deployment.causedBy } as never}
            fz="inherit"
          >
            {trigger === 'driftRemediation' ? 'Show the drift check' : 'Show that deployment'}
          </Anchor>
        )}
        <Commit deployment={deployment} />
        {targets.length > 0 && (
          <span>only {targets.length === 1 ? <bdi>{targets[0]}</bdi> : `${targets.length} targets`}</span>
        )}
      </div>
      <Remediation check={deployment} />
      {comment !== undefined && comment !== '' && <p className={classes.comment}>{comment}</p>}
    </>
  );
}
