/** Decisions about a plan, and notices when another user decided first. */
import { Button, CopyButton } from '@mantine/core';
import { Fragment } from 'react';
import { approvalReason } from '#contract/deployments/approval-reason.ts';
import type { Plan } from '#contract/deployments/plan.ts';
import { countsOf, countsText } from '#contract/deployments/plan-counts.ts';
import { useSession } from '../../../api/session.ts';
import { deploymentLooks, StatusShape } from '../../../design/status.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import type { DeploymentReply } from '../facts/reads.ts';
import { rowsOf } from '../plan/rows.ts';
import { approverObstacle, costWords } from './approval-words.ts';
import classes from './decide.module.css';
import type { DecisionProps } from './use-decisions.ts';
import { Verdicts } from './Verdicts.tsx';

/** The result of a decision that came too late, in the words of the page. */
function lateWords({ deployment: { reviews = [], abortedByUser, status }, decisions }: LateProps) {
  const last = reviews.at(-1);
  if (decisions.tooLate?.includes('planHash') === true)
    return { title: 'The plan has changed', text: 'Read the new plan below, and decide again.' };
  if (last && status !== 'WAITING_FOR_USER')
    return {
      title: 'Someone else has already decided',
      text: `${last.user.name} has ${last.action === 'approved' ? 'approved' : 'refused'} it. Your decision changed nothing.`,
    };
  if (abortedByUser)
    return { title: 'Someone else has aborted it', text: `${abortedByUser.name} aborted it first.` };
  if (status === 'WAITING_FOR_USER')
    return { title: 'Your decision was not accepted', text: decisions.tooLate ?? '' };
  return { title: 'This has changed since you opened it', text: decisions.tooLate ?? '' };
}

type LateProps = Pick<DecisionProps, 'deployment' | 'decisions'>;

function TooLate(props: LateProps) {
  const { tooLate, forget } = props.decisions;
  if (tooLate === undefined) return null;
  const { title, text } = lateWords(props);
  return (
    <section className={classes.late} role="status">
      <div>
        <h2>{title}</h2>
        <p>
          <bdi>{text}</bdi>
        </p>
      </div>
      <Button variant="default" onClick={forget}>
        Understood
      </Button>
    </section>
  );
}

/** The hash of a plan, with a button that copies all of it. */
function PlanHash({ hash }: { readonly hash: string }) {
  return (
    <span className={classes.hash}>
      Plan <code title={hash}>{hash.slice(0, 12)}</code>
      <CopyButton value={hash}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="subtle" onClick={copy} aria-label="Copy the hash of the plan">
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </span>
  );
}

/** Names of so many resources stand in the page itself. */
const namedLosses = 3;

function Losses({ plan }: { readonly plan: Plan }) {
  const lost = rowsOf(plan.resourceChanges).filter(({ kind }) => kind === 'destroy' || kind === 'replace');
  if (lost.length === 0) return <p>Nothing is destroyed or replaced.</p>;
  const counts = countsOf(plan.resourceChanges);
  return (
    <p>
      <b>{countsText({ ...countsOf([]), destroy: counts.destroy, replace: counts.replace }, 'toDo')}:</b>{' '}
      {lost.slice(0, namedLosses).map(({ key, change }, at) => (
        <Fragment key={key}>
          {at > 0 && ', '}
          <bdi className="mono">{change.path}</bdi>
        </Fragment>
      ))}
      {lost.length > namedLosses && ` and ${lost.length - namedLosses} more`}
    </p>
  );
}

/** Until when and why it waits, and what is still missing. */
function Wait({
  deployment: { waitingFor, costEstimation, policyVerdicts },
}: Pick<DecisionProps, 'deployment'>) {
  const { me } = useSession();
  const { approval } = waitingFor ?? {};
  const obstacle = approverObstacle(waitingFor, me.user.user_id);
  const cost = costWords(costEstimation);
  return (
    <ul className={classes.more} aria-label="What the approval is about">
      {cost !== undefined && <li>Costs: {cost}</li>}
      {obstacle !== undefined && <li>{obstacle}</li>}
      {approval !== undefined && (
        <li>It waits because {approvalReason(approval.decidedBy, policyVerdicts)}.</li>
      )}
      {approval?.missing?.map((text) => (
        <li key={text}>
          Still missing: <bdi>{text}</bdi>
        </li>
      ))}
      {approval !== undefined && (
        <li>
          If no one decides, it times out <TimeAgo at={approval.until} />.
        </li>
      )}
    </ul>
  );
}

function OpenApproval({ deployment, plan }: Pick<DecisionProps, 'deployment' | 'plan'>) {
  if (deployment.status !== 'WAITING_FOR_USER' || !plan) return null;
  return (
    <section className={classes.openApproval} aria-label="Approval">
      {deployment.isPlanEmpty === true ? (
        <p>There is nothing to apply, but the deployment blocks the queue until someone decides.</p>
      ) : (
        <Losses plan={plan} />
      )}
      {deployment.planHash !== undefined && <PlanHash hash={deployment.planHash} />}
      <Wait deployment={deployment} />
    </section>
  );
}

/** Decisions: user, plan, time and reason. */
function Reviews({ deployment }: { readonly deployment: DeploymentReply }) {
  const { reviews = [] } = deployment;
  if (reviews.length === 0) return null;
  return (
    <ul className={classes.reviews} aria-label="Decisions">
      {reviews.map(({ user, action, at, planHash, comment }) => (
        <li key={`${user.user_id} ${at}`}>
          <StatusShape look={deploymentLooks[action === 'approved' ? 'SUCCESS' : 'CANCELLED']} />
          <span>
            {action === 'approved' ? 'Approved' : 'Refused'} by <bdi>{user.name}</bdi> <TimeAgo at={at} />
          </span>
          {planHash !== undefined && <PlanHash hash={planHash} />}
          {comment !== undefined && <q className={classes.why}>{comment}</q>}
        </li>
      ))}
    </ul>
  );
}

export function DecisionNotes({ deployment, plan, decisions }: DecisionProps) {
  return (
    <>
      <TooLate deployment={deployment} decisions={decisions} />
      <OpenApproval deployment={deployment} plan={plan} />
      <Verdicts verdicts={deployment.policyVerdicts ?? []} />
      <Reviews deployment={deployment} />
    </>
  );
}
