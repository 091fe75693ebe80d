/** Asks before a plan is applied, and names everything that would be lost. */
import { Textarea } from '@mantine/core';
import { useMemo, useState } from 'react';
import { followingSentences } from '#contract/deployments/following-units.ts';
import { countsOf, countsText } from '#contract/deployments/plan-counts.ts';
import { KindMark } from '../plan/PlanMarks.tsx';
import { type PlanRow, rowsOf } from '../plan/rows.ts';
import classes from './decide.module.css';
import { Question } from './Question.tsx';
import type { DecisionProps } from './use-decisions.ts';

const shownLosses = 200;

function Losses({ rows }: { readonly rows: readonly PlanRow[] }) {
  return (
    <>
      <p>This will be lost and cannot be recovered:</p>
      <ul className={classes.losses} tabIndex={0} aria-label="What is destroyed or replaced">
        {rows.slice(0, shownLosses).map(({ key, kind, change }) => (
          <li key={key}>
            <KindMark kind={kind} />
            <bdi>{change.path}</bdi>
          </li>
        ))}
        {rows.length > shownLosses && <li>… and {rows.length - shownLosses} more</li>}
      </ul>
    </>
  );
}

export function ApproveDialog({ deployment, environment, plan, decisions }: DecisionProps) {
  const rows = useMemo(() => rowsOf(plan?.resourceChanges ?? []), [plan]);
  const lost = rows.filter(({ kind }) => kind === 'destroy' || kind === 'replace');
  const text = plan ? countsText(countsOf(plan.resourceChanges), 'toDo') : '';
  const following = followingSentences(deployment.units);
  // Plan that the person read when the dialog was opened: a newer plan needs its own decision.
  const [planHash] = useState(deployment.planHash);
  const [comment, setComment] = useState('');
  const isOutdated = planHash !== deployment.planHash;
  return (
    <Question
      title="Approve this plan?"
      no="Not yet"
      verb={lost.length > 0 ? `Approve and lose ${lost.length}` : 'Approve'}
      isDanger={lost.length > 0}
      decisions={decisions}
      isReady={!isOutdated}
      onConfirm={() => decisions.approve(planHash, comment)}
    >
      <p>
        It is applied to <b>{environment ? <bdi>{environment.name}</bdi> : 'the environment'}</b>
        {text === '' ? ', and changes no resource.' : `: ${text}.`}
      </p>
      {following.map((text) => (
        <p key={text}>{text}.</p>
      ))}
      {lost.length > 0 && <Losses rows={lost} />}
      {isOutdated && (
        <p role="alert">
          The plan has changed since you opened it. Close this dialog and read the new plan first.
        </p>
      )}
      <Textarea
        mt="sm"
        label="Comment"
        autosize
        maxLength={4000}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      {planHash !== undefined && (
        <p className={classes.faint}>
          You approve the plan <code>{planHash.slice(0, 12)}</code>, which this page shows
          {following.length > 0 ? '.' : ', and no other.'}
        </p>
      )}
    </Question>
  );
}
