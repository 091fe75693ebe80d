/** Evaluates a policy against a stored deployment, of which nothing changes. */
import type { PolicyDecision, PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import type { Context } from '../../../framework/context.ts';
import { orNotFound } from '../../../ground/errors.ts';
import { getDeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import type { TemplateRow } from '../../../rows/templates/template-store.ts';
import type { PolicyFiles } from '../../../rules/approval-policies/evaluation/compile-policy.ts';
import { PolicyCheck } from '../../../rules/approval-policies/evaluation/policy-engine.ts';
import { evaluatePolicies, evaluatePolicy, type PolicyResult, policyDocuments } from './evaluate-policies.ts';
import { policyInput, shownInput } from './policy-input.ts';

interface TestedFiles {
  readonly files: PolicyFiles;
  readonly configuration: object;
}

/** Subject of the test: a policy of the organization, read at its newest commit, or files. */
export type TestedPolicy = { readonly policy: TemplateRow } | TestedFiles;

export interface PolicyTestResult {
  readonly decision: PolicyDecision;
  readonly messages: PolicyMessages;
  /** Why it could not be evaluated. */
  readonly error?: string;
  readonly commit?: string;
  readonly hash?: string;
  readonly milliseconds: number;
  /**
   * The plan was rebuilt from what is stored of it, which has only the attributes that change: the whole plan is
   * kept while a deployment with policies is open.
   */
  readonly isPlanRebuilt: boolean;
}

/**
 * @param deploymentId the caller has checked that it may be seen
 * @throws Refusal 404 for a deployment that there is not
 */
export async function testPolicy(
  context: Context,
  deploymentId: string,
  tested: TestedPolicy,
): Promise<PolicyTestResult> {
  const row = orNotFound(await getDeploymentRow(context.db, deploymentId), 'deployment', deploymentId);
  const { isRebuilt, ...planned } = (await shownInput(context, deploymentId)) ?? {
    plan: {},
    isRebuilt: true,
  };
  const documentFor = policyDocuments(await policyInput(context, row, planned));
  const project = { organizationId: row.organization_id, projectId: row.project_id };
  const evaluateStored = async (template: TemplateRow) => {
    const document = documentFor(template.settings.policyConfiguration);
    const [result] = await evaluatePolicies(context, [{ template, project, document }]);
    return result as PolicyResult;
  };
  const evaluateOne = async ({ files, configuration }: TestedFiles) => {
    const document = documentFor(configuration);
    await using check = new PolicyCheck(context, document.common, 1);
    return await evaluatePolicy(files, document, check);
  };
  const result =
    'policy' in tested
      ? await evaluateStored(tested.policy)
      : {
          ...(await evaluateOne(tested)),
          commit_hash: null,
        };
  return {
    decision: result.decision,
    messages: result.messages,
    ...(result.error === null ? {} : { error: result.error }),
    ...(result.commit_hash === null ? {} : { commit: result.commit_hash }),
    ...(result.content_hash === null ? {} : { hash: result.content_hash }),
    milliseconds: result.milliseconds,
    isPlanRebuilt: isRebuilt,
  };
}
