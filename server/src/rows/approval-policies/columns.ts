/** Types of columns that are text, numbers or JSON to the database. */
import type { PolicyDecision, PolicyMessages } from '#contract/deployments/policy-verdict.ts';

export interface Columns {
  'policy_verdict.configuration': Record<string, unknown> | null;
  'policy_verdict.decision': PolicyDecision;
  'policy_verdict.messages': PolicyMessages;
}
