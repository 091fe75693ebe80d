/** Verdicts of the approval policies about a plan: the last ones, and the number of earlier ones. */
import { Link } from '@tanstack/react-router';
import type { PolicyVerdict } from '#contract/deployments/policy-verdict.ts';
import { type StatusLook, StatusShape, verdictLooks } from '../../../design/status.tsx';
import classes from './decide.module.css';

const warning: StatusLook = { word: 'Warns', tone: 'wait', shape: 'diamond' };

/** Messages of a policy, the warnings last. */
function messagesOf({ decision, messages, error }: PolicyVerdict): string[] {
  if (decision === 'error') return [error ?? 'Unknown error'];
  return decision === 'none' ? [] : messages[decision];
}

function Verdict({ verdict }: { readonly verdict: PolicyVerdict }) {
  const { policyId, policyName, decision, messages, commit } = verdict;
  const look = verdictLooks[decision];
  return (
    <li>
      <StatusShape look={look} />
      <span>
        <Link to="/approval-policies/$policyId" params={{ policyId } as never} className={classes.policy!}>
          <bdi>{policyName}</bdi>
        </Link>
        : {look.word}
      </span>
      {commit !== undefined && (
        <code className={classes.faint} title={`Commit ${commit} of the policy`}>
          {commit.slice(0, 8)}
        </code>
      )}
      {[...messagesOf(verdict), ...messages.warn].map((message, at) => {
        const isWarning = at >= messagesOf(verdict).length;
        return (
          <span key={`${at} ${message}`} className={classes.why}>
            {isWarning && <b>{warning.word}: </b>}
            <bdi>{message}</bdi>
          </span>
        );
      })}
    </li>
  );
}

export function Verdicts({ verdicts }: { readonly verdicts: readonly PolicyVerdict[] }) {
  const round = Math.max(0, ...verdicts.map((verdict) => verdict.round));
  if (round === 0) return null;
  const last = verdicts.filter((verdict) => verdict.round === round);
  return (
    <section aria-label="Approval policies">
      <h2 className={classes.head}>
        Approval policies
        {round > 1 && (
          <span className={classes.faint}>
            {' '}
            after {round - 1 === 1 ? '1 approval' : `${round - 1} approvals`}
          </span>
        )}
      </h2>
      <ul className={classes.reviews} aria-label="Verdicts">
        {last.map((verdict) => (
          <Verdict key={verdict.policyId} verdict={verdict} />
        ))}
      </ul>
    </section>
  );
}
