/** Current value of a policy's setting, and its origin, as words. */
import type { PolicyOrigin, PolicySetting } from '#contract/project-policies/policy-origins.ts';
import type { AutoDriftRemediation } from '#contract/schema/enumerations.ts';
import { remediationWords } from '../../design/words.ts';
import { ttlText } from './policy-fields.ts';

const origins: Readonly<Record<PolicyOrigin, string>> = {
  default: 'the default',
  project: 'set for this project',
  organization: 'from the organization',
  above: 'from a project above',
};

function valueText({ field, value }: PolicySetting): string {
  if (field === 'maxTtl' || field === 'defaultTtl') return ttlText(value as string | null).toLowerCase();
  if (field === 'selfApprovalForbidden') return value === true ? 'forbidden' : 'allowed';
  if (value === null) return 'no limit';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (field === 'autoDriftRemediation') return remediationWords[value as AutoDriftRemediation].toLowerCase();
  return value === '' ? 'none' : String(value);
}

/** Such as: `Now: 3 days, from the organization`. */
export function nowText(setting: PolicySetting): string {
  return `Now: ${valueText(setting)}, ${origins[setting.from]}`;
}
