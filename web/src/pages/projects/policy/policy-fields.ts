/** The settings of a policy with what they mean, in the order of the page. */
import type { CallInput } from '#contract/client/client.ts';
import type { PolicyFlag } from '#contract/policies/policy-flags.ts';
import type { Policy } from '#contract/policies/shapes.ts';

export type PolicyBody = CallInput<'updatePolicy'>['body'];

export interface FlagField {
  readonly name: PolicyFlag | 'driftDetectionEnabled';
  readonly label: string;
  readonly meaning: string;
  /** What happens although it is on; absent: it has its effect. */
  readonly without?: string;
}

export const flagFields: readonly FlagField[] = [
  {
    name: 'outputsAsInputsEnabled',
    label: 'Outputs may be used elsewhere',
    meaning:
      'Variables of other environments may take their values from outputs of environments of this project.',
  },
  {
    name: 'requiresApprovalDefault',
    label: 'Approval by default',
    meaning: 'New environments require approval unless the request says otherwise.',
    without: 'new environments always do',
  },
  {
    name: 'skipApplyWhenPlanIsEmpty',
    label: 'No apply of empty plans',
    meaning: 'A plan without changes ends the deployment.',
    without: 'plans without changes are applied',
  },
  {
    name: 'skipRedundantDeployments',
    label: 'Skip what is overtaken',
    meaning:
      'Of several queued deploys, only the last one runs; a destroy and what is before it counts for itself.',
  },
  {
    name: 'disableDestroyEnvironments',
    label: 'No destroys',
    meaning: 'Environments cannot be destroyed.',
    without: 'environments can be destroyed',
  },
  {
    name: 'forceCheckoutOnTtlDestroy',
    label: 'New code when a lifetime ends',
    meaning: 'Expired environments are destroyed with the newest code of their revision.',
    without: 'they are destroyed with the code that was deployed last',
  },
  {
    name: 'forceRemoteBackend',
    label: 'State in the service',
    meaning: 'All environments keep their state in the service.',
    without: 'environments choose where their state is stored',
  },
  {
    name: 'continuousDeploymentDefault',
    label: 'Deploy on push',
    meaning: 'New environments are deployed when their code changes.',
    without: 'pushes to the repository do not start deployments',
  },
  {
    name: 'runPullRequestPlanDefault',
    label: 'Plan pull requests',
    meaning: 'Pull requests start plans of new environments.',
    without: 'pull requests do not start plans',
  },
  {
    name: 'vcsPrCommentsEnabledDefault',
    label: 'Commands in comments',
    meaning: 'Comments on pull requests start deployments of new environments.',
    without: 'comments on pull requests are not read',
  },
  {
    name: 'includeCostEstimation',
    label: 'Estimate costs',
    meaning: 'Plans show what they would cost.',
    without: 'costs are not estimated',
  },
  {
    name: 'driftDetectionEnabled',
    label: 'Check for drift',
    meaning: 'New environments are checked at the times below.',
    without: 'new environments have no schedule of drift detection',
  },
];

export const remediations = {
  DISABLED: 'None',
  CODE_TO_CLOUD: 'Apply the code again',
  CLOUD_TO_CODE: 'Change the code',
  SMART_REMEDIATION: 'Decide by the cause',
} as const;

export const ttlChoices = [
  { value: '', label: 'No end' },
  { value: 'inherit', label: 'As the organization says' },
  { value: '6-h', label: '6 hours' },
  { value: '12-h', label: '12 hours' },
  { value: '1-d', label: '1 day' },
  { value: '3-d', label: '3 days' },
  { value: '1-w', label: '1 week' },
  { value: '2-w', label: '2 weeks' },
  { value: '1-M', label: '1 month' },
] as const;

const units = { h: 'hours', d: 'days', w: 'weeks', M: 'months' } as const;

/** The choices, and any other value that a client has stored. */
export function ttlOptions(value: string): { value: string; label: string }[] {
  const known = ttlChoices.map((choice) => ({ ...choice }));
  if (known.some((choice) => choice.value === value)) return known;
  const [count = '', unit = 'h'] = value.split('-');
  return [...known, { value, label: `${count} ${units[unit as keyof typeof units] ?? unit}` }];
}

/** A policy as its form has it: all fields are there. */
export interface PolicyValues {
  readonly flags: Readonly<Record<FlagField['name'], boolean>>;
  /** Empty: unlimited. */
  readonly numberOfEnvironments: string;
  readonly numberOfEnvironmentsTotal: string;
  readonly maxTtl: string;
  readonly defaultTtl: string;
  readonly driftDetectionCron: string;
  readonly autoDriftRemediation: keyof typeof remediations;
}

const text = (count: number | null) => (count === null ? '' : String(count));

export function policyValues(policy: Policy): PolicyValues {
  const flags = Object.fromEntries(flagFields.map(({ name }) => [name, policy[name] ?? false]));
  return {
    flags: flags as PolicyValues['flags'],
    numberOfEnvironments: text(policy.numberOfEnvironments),
    numberOfEnvironmentsTotal: text(policy.numberOfEnvironmentsTotal),
    maxTtl: policy.maxTtl ?? '',
    defaultTtl: policy.defaultTtl ?? '',
    driftDetectionCron: policy.driftDetectionCron ?? '',
    autoDriftRemediation: policy.autoDriftRemediation ?? 'DISABLED',
  };
}

const count = (value: string) => (value.trim() === '' ? null : Number(value));

/** The whole policy: what a request leaves out would be turned off. */
export function policyBody(projectId: string, values: PolicyValues): PolicyBody {
  const { flags, maxTtl, defaultTtl, driftDetectionCron, autoDriftRemediation } = values;
  return {
    projectId,
    ...flags,
    numberOfEnvironments: count(values.numberOfEnvironments),
    numberOfEnvironmentsTotal: count(values.numberOfEnvironmentsTotal),
    maxTtl: maxTtl === '' ? null : maxTtl,
    defaultTtl: defaultTtl === '' ? null : defaultTtl,
    ...(driftDetectionCron.trim() === '' ? {} : { driftDetectionCron: driftDetectionCron.trim() }),
    autoDriftRemediation,
  };
}

/** What is wrong before the service is asked, by field. */
export function policyErrors(values: PolicyValues): Readonly<Record<string, string>> {
  const wrong = (['numberOfEnvironments', 'numberOfEnvironmentsTotal'] as const).filter(
    (name) => !/^\d{0,6}$/.test(values[name].trim()) && values[name].trim() !== '1000000',
  );
  const fields = values.driftDetectionCron.trim().split(/\s+/).filter(Boolean).length;
  return {
    ...Object.fromEntries(wrong.map((name) => [name, 'A whole number up to 1,000,000; empty: no limit.'])),
    ...([0, 5].includes(fields)
      ? {}
      : { driftDetectionCron: 'Five fields: minute, hour, day of month, month, day of week.' }),
  };
}
