/** Defaults of a project's policy for environments that are created in it. Pure. */
import type { NewEnvironment } from '#contract/environments/create-environment.ts';
import { badField } from '../../ground/errors.ts';
import type { PolicySettings } from '../../tenancy/project-policies/policy-settings.ts';

/** The request with the policy's values where it has none of its own. */
export function withPolicyDefaults<R extends NewEnvironment>(request: R, policy: PolicySettings): R {
  const vcsPrCommentsEnabled =
    request.vcsPrCommentsEnabled ?? (policy.vcsPrCommentsEnabledDefault || undefined);
  return {
    ...request,
    requiresApproval: request.requiresApproval ?? policy.requiresApprovalDefault,
    continuousDeployment: request.continuousDeployment ?? policy.continuousDeploymentDefault,
    pullRequestPlanDeployments: request.pullRequestPlanDeployments ?? policy.runPullRequestPlanDefault,
    ...(vcsPrCommentsEnabled === undefined ? {} : { vcsPrCommentsEnabled }),
    isRemoteBackend: request.isRemoteBackend ?? policy.forceRemoteBackend,
  };
}

/** The schedule of drift detection that new environments get; null: none. */
export function driftOf(
  policy: Pick<PolicySettings, 'driftDetectionEnabled' | 'driftDetectionCron'>,
): { enabled: boolean; cron: string } | null {
  const cron = policy.driftDetectionCron.trim();
  return policy.driftDetectionEnabled && cron !== '' ? { enabled: true, cron } : null;
}

/** @throws Refusal 400 for an environment that would store its state elsewhere although the policy forces ours */
export function checkRemoteBackend(
  isRemoteBackend: boolean | undefined,
  { forceRemoteBackend }: Pick<PolicySettings, 'forceRemoteBackend'>,
): void {
  if (forceRemoteBackend && isRemoteBackend === false)
    throw badField(
      'body.isRemoteBackend',
      'must be true or absent: the policy of the project has the service store all states (forceRemoteBackend)',
    );
}

/**
 * @param request with the policy's values
 * @throws Refusal 400 that names the field
 */
export function checkPolicyOfNew(request: NewEnvironment, policy: PolicySettings): void {
  checkRemoteBackend(request.isRemoteBackend, policy);
  if (request.isRemoteApplyEnabled && (!request.isRemoteBackend || request.requiresApproval))
    throw badField('body.isRemoteApplyEnabled', 'requires isRemoteBackend true and requiresApproval false');
}
