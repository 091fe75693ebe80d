/** Policies of projects. */
import { type Static, Type } from 'typebox';
import { defineOperations, operation } from '../operation.ts';
import { autoDriftRemediations, oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { closed, Flag, Name, nullable, Text } from '../schema/schema.ts';
import { Policy } from './shapes.ts';

const Limit = Type.Integer({ minimum: 0, maximum: 1_000_000 });

const limit = (who: string) =>
  Type.Optional(withoutEffect(nullable(Limit), `the number of environments ${who} is not limited`));

/** `n-h`, `n-d`, `n-w`, `n-M`, `inherit`, or null for infinite. */
const policyTtl = (consequence: string) =>
  Type.Optional(
    withoutEffect(nullable(Type.String({ pattern: '^(?:[1-9]\\d{0,5}-[hdwM]|inherit)$' })), consequence),
  );

const flag = (consequence: string) => Type.Optional(withoutEffect(Flag, consequence));

export const UpdatePolicyBody = closed({
  projectId: Name,
  numberOfEnvironments: limit('of a user'),
  numberOfEnvironmentsTotal: limit('of a project'),
  maxTtl: policyTtl('lifetimes follow the policies of the organization'),
  defaultTtl: policyTtl('lifetimes follow the policies of the organization'),
  requiresApprovalDefault: flag('new environments require approval unless the request says otherwise'),
  includeCostEstimation: flag('costs are not estimated'),
  skipApplyWhenPlanIsEmpty: flag('plans without changes are applied'),
  disableDestroyEnvironments: flag('environments can be destroyed'),
  forceCheckoutOnTtlDestroy: flag('expired environments are destroyed with the code that was deployed last'),
  skipRedundantDeployments: Type.Optional(
    Type.Boolean({
      description:
        'Whether queued deploys that a later deployment makes redundant are skipped when the next one is ' +
        'picked; default: false',
    }),
  ),
  continuousDeploymentDefault: flag(noEffects.continuousDeployment),
  runPullRequestPlanDefault: flag(noEffects.pullRequestPlanDeployments),
  vcsPrCommentsEnabledDefault: flag('comments on pull requests are not read'),
  forceRemoteBackend: flag('environments choose where their state is stored'),
  driftDetectionEnabled: flag('new environments have no schedule of drift detection'),
  driftDetectionCron: Type.Optional(
    withoutEffect(Text, 'new environments have no schedule of drift detection'),
  ),
  autoDriftRemediation: Type.Optional(
    oneOf(
      autoDriftRemediations,
      'Strategy of new environments for drift that a drift run finds; default: DISABLED. CLOUD_TO_CODE and ' +
        'SMART_REMEDIATION are refused until forges can be connected',
    ),
  ),
  outputsAsInputsEnabled: Type.Optional(
    Type.Boolean({
      description:
        'Whether variables of other environments may take their values from outputs of environments of this ' +
        'project; default: false',
    }),
  ),
  selfApprovalForbidden: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'Ours: whether people must not approve plans that they started; absent: stays as it is; null: as the ' +
          'nearest project above says, or no',
      }),
    ),
  ),
});
export type UpdatePolicyBody = Static<typeof UpdatePolicyBody>;

export const operations = defineOperations('policies', {
  getPolicy: operation('GET', '/policies', {
    summary: 'Get policy',
    description: 'Every project has one; a project whose policy was never changed has the default one.',
    needs: 'VIEW_PROJECT',
    subject: { entity: 'project', in: 'query', field: 'projectId' },
    query: Type.Object({ projectId: Name }),
    reply: Policy,
    inInterface: true,
  }),
  updatePolicy: operation('PUT', '/policies', {
    summary: 'Update policy',
    description:
      'Replaces the whole policy: omitted flags become false, omitted numbers and lifetimes null (unlimited). ' +
      '`selfApprovalForbidden`, which is ours, stays as it is if omitted.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: { entity: 'project', in: 'body', field: 'projectId' },
    body: UpdatePolicyBody,
    reply: Policy,
    inInterface: true,
  }),
});
