/** Policies of projects. */
import { type Static, Type } from 'typebox';
import { clearable } from '../schema/empty-fields.ts';
import { autoDriftRemediations, forgeRemediations, oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffect, withoutEffectOf } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Flag, Name, nullable } from '../schema/schema.ts';
import { policyDefaults } from './policy-origins.ts';
import { LimitsCheck, Policy } from './shapes.ts';

const limit = (description: string) =>
  Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 1_000_000, description })));

/** `n-h`, `n-d`, `n-w`, `n-M`, `inherit`, or null for infinite. */
const policyTtl = (description: string) =>
  Type.Optional(nullable(Type.String({ pattern: '^(?:[1-9]\\d{0,5}-[hdwM]|inherit)$', description })));

const on = (description: string, isDefault = false) =>
  Type.Optional(clearable(Type.Boolean({ description }), isDefault));

const later = (consequence: string) => Type.Optional(clearable(withoutEffect(Flag, consequence), false));

export const UpdatePolicyBody = closed({
  projectId: Name,
  numberOfEnvironments: limit(
    'Active environments that each user may have in the project, not counting who may exceed it; null: any number',
  ),
  numberOfEnvironmentsTotal: limit('Active environments that the project may have; null: any number'),
  maxTtl: policyTtl(
    'Maximum lifetime of environments, counted from their creation: 6-h, 3-d, 2-w, 1-M …; null: infinite; inherit: ' +
      'that of the organization',
  ),
  defaultTtl: policyTtl(
    'Lifetime of environments created without a ttl; at most `maxTtl`; null: infinite, or `maxTtl` if set; inherit: ' +
      'that of the organization, together with `maxTtl`',
  ),
  requiresApprovalDefault: on(
    'Whether new environments require approval unless the request says otherwise',
    policyDefaults.requiresApprovalDefault,
  ),
  includeCostEstimation: on('Whether plans say what they cost, where agents have Infracost'),
  skipApplyWhenPlanIsEmpty: on(
    'Whether a deploy whose plan is empty (no changes of resources or outputs, no moves, imports or forgets) succeeds ' +
      'without apply and without asking anybody; outputs and resources stay as they are',
  ),
  disableDestroyEnvironments: on(
    'Whether environments cannot be destroyed: requests get 409, nothing expires, and no destroy is scheduled. ' +
      'Turning it on removes all lifetimes and destroy schedules of the project',
  ),
  forceCheckoutOnTtlDestroy: on(
    'Whether expired environments are destroyed with the newest code; default: with the code that was deployed last',
  ),
  skipRedundantDeployments: on(
    'Whether queued deploys that a later deployment makes redundant are skipped when the next one is picked; ' +
      'default: false',
  ),
  continuousDeploymentDefault: later(noEffects.continuousDeployment),
  runPullRequestPlanDefault: later(noEffects.pullRequestPlanDeployments),
  vcsPrCommentsEnabledDefault: later(noEffects.commentsRead),
  forceRemoteBackend: on('Whether the service stores the states of all new environments'),
  driftDetectionEnabled: on('Whether new environments get the schedule of `driftDetectionCron`'),
  driftDetectionCron: Type.Optional(
    Type.String({
      description:
        'Cron expression of five fields, in UTC, of which drift runs come once an hour at most; existing environments keep theirs',
    }),
  ),
  autoDriftRemediation: Type.Optional(
    withoutEffectOf(
      oneOf(
        autoDriftRemediations,
        'Strategy of new environments for drift that a drift run finds; default: DISABLED',
      ),
      forgeRemediations,
      noEffects.driftPullRequests,
    ),
  ),
  outputsAsInputsEnabled: on(
    'Whether variables of other environments may take their values from outputs of environments of this ' +
      'project; default: false',
  ),
  selfApprovalForbidden: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'Ours: whether people must not approve plans that they started; absent: stays as it is; null: as the ' +
          'projects above say, or no',
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
  checkPolicyLimits: operation('GET', '/policies/limits/check', {
    summary: 'Check limits of policy',
    description:
      'How many active environments a project has, and whether its policy allows one more. Active are all but ' +
      'archived ones and those that were never deployed or are destroyed.',
    needs: 'VIEW_PROJECT',
    subject: { entity: 'project', in: 'query', field: 'projectId' },
    query: Type.Object({ projectId: Name }),
    reply: LimitsCheck,
  }),
  updatePolicy: operation('PUT', '/policies', {
    summary: 'Update policy',
    description:
      'Replaces the whole policy: omitted flags become false, omitted numbers and lifetimes null (unlimited). ' +
      '`selfApprovalForbidden`, which is ours, stays as it is if omitted.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: [
      {
        right: 'EDIT_PROJECT_SETTINGS',
        for: '`selfApprovalForbidden` false below a project where it is true, there',
      },
    ],
    subject: { entity: 'project', in: 'body', field: 'projectId' },
    body: UpdatePolicyBody,
    reply: Policy,
    inInterface: true,
  }),
});
