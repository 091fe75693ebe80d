/** Meaning of the rules of a policy. Pure. */
import {
  type PolicyDecision,
  type PolicyMessages,
  policyDecisions,
  policyRules,
} from '#contract/deployments/policy-verdict.ts';
import { storable } from '../../../ground/database/storable.ts';
import { PolicyError } from './policy-error.ts';

const mostMessages = 100;
const longestMessage = 2000;

/** @throws PolicyError for anything but texts in a set or a list */
function messagesOf(rule: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value))
    throw new PolicyError(`Rule "${rule}" must be a set or a list of messages, not ${kindOf(value)}`);
  const texts = (value as unknown[]).map((each) => {
    if (typeof each !== 'string')
      throw new PolicyError(`Rule "${rule}" must contain messages, which are texts, not ${kindOf(each)}`);
    return storable(each.length > longestMessage ? `${each.slice(0, longestMessage)}…` : each);
  });
  if (texts.length <= mostMessages) return texts;
  return [...texts.slice(0, mostMessages), `… and ${texts.length - mostMessages} more`];
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/**
 * @param result of the four rules, as opa answers it
 * @throws PolicyError that names the rule whose value has another shape
 */
export function readMessages(result: unknown): PolicyMessages {
  const values = (result ?? {}) as Readonly<Record<string, unknown>>;
  const read = policyRules.map((rule) => [rule, messagesOf(rule, values[rule])] as const);
  return Object.fromEntries(read) as PolicyMessages;
}

/** Decision of one policy: any denial, then anything missing, then any permission. */
export function decisionOf(messages: PolicyMessages): PolicyDecision {
  if (messages.deny.length > 0) return 'deny';
  if (messages.pending.length > 0) return 'pending';
  return messages.allow.length > 0 ? 'allow' : 'none';
}

/** Combined decision of several: the first in the order of `policyDecisions` that any of them makes. */
export function combinedDecision(decisions: readonly PolicyDecision[]): PolicyDecision {
  return policyDecisions.find((decision) => decisions.includes(decision)) ?? 'none';
}
