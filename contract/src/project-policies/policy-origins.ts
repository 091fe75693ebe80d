/**
 * Defaults of the settings of a policy, and the origins of those that apply. Without
 * schemas, because browsers read it too.
 */
import type { Organization } from '../organizations/shapes.ts';
import type { Policy } from './shapes.ts';

/** The settings of a policy: what a request replaces as a whole. */
export type PolicySettings = Omit<
  Policy,
  'id' | 'projectId' | 'organizationId' | 'updatedBy' | 'selfApprovalForbidden' | 'isSelfApprovalForbidden'
> &
  Required<Pick<Policy, 'driftDetectionEnabled' | 'driftDetectionCron' | 'autoDriftRemediation'>>;

/** Of a project whose policy was never changed. */
export const policyDefaults: PolicySettings = {
  numberOfEnvironments: null,
  numberOfEnvironmentsTotal: null,
  maxTtl: 'inherit',
  defaultTtl: 'inherit',
  requiresApprovalDefault: true,
  includeCostEstimation: false,
  skipApplyWhenPlanIsEmpty: false,
  disableDestroyEnvironments: false,
  forceCheckoutOnTtlDestroy: false,
  skipRedundantDeployments: false,
  continuousDeploymentDefault: false,
  runPullRequestPlanDefault: false,
  vcsPrCommentsEnabledDefault: false,
  forceRemoteBackend: false,
  outputsAsInputsEnabled: false,
  driftDetectionEnabled: false,
  driftDetectionCron: '',
  autoDriftRemediation: 'DISABLED',
};

/** Origin of a setting: the default, the project, its organization, or a project above it. */
export type PolicyOrigin = 'default' | 'project' | 'organization' | 'above';

/** A setting as it holds. */
export interface PolicySetting {
  readonly field: keyof PolicySettings | 'selfApprovalForbidden';
  readonly value: string | number | boolean | null;
  readonly from: PolicyOrigin;
}

/**
 * All settings of a policy as they hold in its project, in the order of the reference.
 * @param organization the project's, which has what is inherited
 */
export function settingsInForce(
  policy: Policy,
  organization: Pick<Organization, 'maxTtl' | 'defaultTtl'>,
): PolicySetting[] {
  const { selfApprovalForbidden, isSelfApprovalForbidden = selfApprovalForbidden ?? false } = policy;
  const settings = (Object.keys(policyDefaults) as (keyof PolicySettings)[]).map((field): PolicySetting => {
    const value = policy[field] ?? null;
    if ((field === 'maxTtl' || field === 'defaultTtl') && value === 'inherit')
      return { field, value: organization[field], from: 'organization' };
    return { field, value, from: value === policyDefaults[field] ? 'default' : 'project' };
  });
  const from =
    selfApprovalForbidden === undefined ? (isSelfApprovalForbidden ? 'above' : 'default') : 'project';
  return [...settings, { field: 'selfApprovalForbidden', value: isSelfApprovalForbidden, from }];
}
