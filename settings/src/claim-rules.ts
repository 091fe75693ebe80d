/** Rules by which values of an identity provider's claim make people members of organizations and teams. */
import type { SettingType } from './types.ts';

export interface ClaimRule {
  /** Of the claim: the rule applies to people who have it. */
  readonly value: string;
  /** Id or name. */
  readonly organization: string;
  /** Admin, User, or the name of a custom role. */
  readonly role: string;
  /** Name of a team of the organization. */
  readonly team?: string;
}

const fields = new Set(['value', 'organization', 'role', 'team']);

function ruleOf(item: unknown): ClaimRule | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
  const entries = Object.entries(item);
  const isText = ([name, text]: [string, unknown]) =>
    fields.has(name) && typeof text === 'string' && text !== '';
  if (!entries.every(isText)) return undefined;
  const { value, organization, role = 'User', team } = item as Partial<ClaimRule>;
  if (value === undefined || organization === undefined) return undefined;
  return { value, organization, role, ...(team === undefined ? {} : { team }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const claimRules: SettingType<readonly ClaimRule[]> = {
  allowed:
    'a JSON array of {"value": …, "organization": …, "role": …, "team": …}; role and team may be absent',
  isSecret: false,
  read(text) {
    const items = parsed(text);
    if (!Array.isArray(items)) return undefined;
    const rules = items.map(ruleOf);
    return rules.every((rule) => rule !== undefined) ? rules : undefined;
  },
  write: (rules) => JSON.stringify(rules),
};
