/** Log of the step of the policies. Pure. */
import { type PolicyDecision, policyRules } from '#contract/deployments/policy-verdict.ts';
import type { VerdictRow } from '../../../rows/approval-policies/verdict-store.ts';

type LoggedVerdict = Pick<
  VerdictRow,
  'policy_name' | 'decision' | 'messages' | 'error' | 'commit_hash' | 'round' | 'milliseconds'
>;

const inWords: Readonly<Record<PolicyDecision, string>> = {
  error: 'could not be evaluated',
  deny: 'denies the plan',
  pending: 'waits for more',
  allow: 'allows the plan',
  none: 'says nothing, so a person decides',
};

/** Control characters of a policy's texts do not reach terminals. */
function plain(text: string): string {
  // eslint-disable-next-line no-control-regex -- they are what is removed
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

function linesOf({
  policy_name,
  decision,
  messages,
  error,
  commit_hash,
  milliseconds,
}: LoggedVerdict): string[] {
  const commit = commit_hash === null ? '' : ` (commit ${commit_hash.slice(0, 12)}, ${milliseconds} ms)`;
  const messageLines = policyRules.flatMap((rule) =>
    messages[rule].map((message) => `  ${rule}: ${plain(message)}`),
  );
  const reason =
    error === null
      ? []
      : plain(error)
          .split('\n')
          .map((line) => `  ${line}`);
  return [`${plain(policy_name)} ${inWords[decision]}${commit}`, ...messageLines, ...reason];
}

/** @param verdicts of one round */
export function verdictLog(verdicts: readonly LoggedVerdict[]): string {
  const [first] = verdicts;
  if (!first) return 'No approval policy is assigned any more.\n';
  const heading = first.round === 1 ? [] : [`After approval ${first.round - 1}:`];
  return `${[...heading, ...verdicts.flatMap(linesOf)].join('\n')}\n`;
}
