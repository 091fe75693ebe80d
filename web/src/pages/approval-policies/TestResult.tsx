/** Verdict of a tested policy. */

import { Link } from '@tanstack/react-router';
import { type PolicyRule, policyRules } from '#contract/deployments/policy-verdict.ts';
import type { Reply } from '../../api/queries.ts';
import { Status, verdictLooks } from '../../design/status.tsx';
import records from '../../records/records.module.css';
import { Facts } from '../../ui/Facts.tsx';
import classes from './policies.module.css';

type PolicyTestReply = Reply<'testApprovalPolicy'>;

const ruleWords: Readonly<Record<PolicyRule, string>> = {
  deny: 'Denies',
  pending: 'Requires more approvals',
  allow: 'Allows',
  warn: 'Warns',
};

function Messages({ messages }: Pick<PolicyTestReply, 'messages'>) {
  const lines = policyRules.flatMap((rule) => messages[rule].map((text) => [rule, text] as const));
  if (lines.length === 0) return null;
  return (
    <ul className={classes.messages} aria-label="Messages">
      {lines.map(([rule, text], at) => (
        <li key={`${at} ${rule}`}>
          <b>{ruleWords[rule]}:</b> <bdi>{text}</bdi>
        </li>
      ))}
    </ul>
  );
}

export interface TestResultProps {
  readonly tested: PolicyTestReply;
  readonly deploymentId: string;
}

export function TestResult({ tested, deploymentId }: TestResultProps) {
  const { decision, messages, error, commit, hash, milliseconds, isPlanRebuilt } = tested;
  return (
    <section className={classes.result} aria-label="Result of the test">
      <h2>
        <Status look={verdictLooks[decision]} />
      </h2>
      {error !== undefined && <pre className={classes.error}>{error}</pre>}
      <Messages messages={messages} />
      {isPlanRebuilt && error === undefined && (
        <p className={records.faint}>
          The whole plan is no longer stored: the policy saw only the attributes that change.
        </p>
      )}
      <Facts
        facts={[
          [
            'Plan of',
            <Link key="deployment" to="/deployments/$deploymentId" params={{ deploymentId }}>
              this deployment
            </Link>,
          ],
          ['Commit', commit && <code key="commit">{commit}</code>],
          ['Hash of its files', hash && <code key="hash">{hash}</code>],
          ['Took', `${milliseconds} ms`],
        ]}
      />
    </section>
  );
}
