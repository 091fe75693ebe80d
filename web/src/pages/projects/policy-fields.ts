/** The settings of a policy with what they mean, in the order of the page. */
import type { CallInput } from '#contract/client/client.ts';
import type { PolicyFlag } from '#contract/project-policies/policy-flags.ts';
import type { Policy } from '#contract/project-policies/shapes.ts';
import type { AutoDriftRemediation } from '#contract/schema/enumerations.ts';

export type PolicyBody = CallInput<'updatePolicy'>['body'];

export interface FlagField {
  readonly name: PolicyFlag | 'driftDetectionEnabled';
  readonly label: string;
  readonly meaning: string;
}

/** Settings for plans and the queue. */
export const runFlags: readonly FlagField[] = [
  {
    name: 'requiresApprovalDefault',
    label: 'Approval by default',
    meaning: 'New environments require approval unless their first deployment says otherwise.',
  },
  {
    name: 'skipApplyWhenPlanIsEmpty',
    label: 'No apply of empty plans',
    meaning:
      'A deploy whose plan changes neither resources nor outputs succeeds without an apply and without an approval.',
  },
  {
    name: 'skipRedundantDeployments',
    label: 'Skip outdated deployments',
    meaning:
      'Of several queued deploys, only the last one runs; a destroy separates those before it from those after it.',
  },
  {
    name: 'includeCostEstimation',
    label: 'Estimate costs',
    meaning: 'Plans show what they would cost.',
  },
];

export const destroyFlags: readonly FlagField[] = [
  {
    name: 'disableDestroyEnvironments',
    label: 'No destroys',
    meaning:
      'Environments cannot be destroyed and do not expire. Turning this on removes all their lifetimes and destroy schedules.',
  },
  {
    name: 'forceCheckoutOnTtlDestroy',
    label: 'New code when a lifetime ends',
    meaning:
      'Expired environments are destroyed with the newest code of their revision, otherwise with what was deployed last.',
  },
];

/** Defaults of new environments, unless the request overrides them. */
export const creationFlags: readonly FlagField[] = [
  {
    name: 'forceRemoteBackend',
    label: 'State in the service',
    meaning:
      'The service stores the states of all new environments; a single environment cannot change that.',
  },
  {
    name: 'continuousDeploymentDefault',
    label: 'Deploy on push',
    meaning: 'New environments are deployed when their code changes.',
  },
  {
    name: 'runPullRequestPlanDefault',
    label: 'Plan pull requests',
    meaning: 'Pull requests start plans of new environments.',
  },
  {
    name: 'vcsPrCommentsEnabledDefault',
    label: 'Commands in comments',
    meaning: 'Comments on pull requests start deployments of new environments.',
  },
];

export const driftFlag: FlagField = {
  name: 'driftDetectionEnabled',
  label: 'Check for drift',
  meaning: 'New environments are checked at the times below. Existing ones keep their own schedule.',
};

export const outputsFlag: FlagField = {
  name: 'outputsAsInputsEnabled',
  label: 'Outputs may be used elsewhere',
  meaning:
    'Variables of other environments may take their values from outputs of environments of this project.',
};

const flagFields = [...runFlags, ...destroyFlags, ...creationFlags, driftFlag, outputsFlag];

/** Whether people may approve plans that they started. */
export const selfApprovals = {
  above: 'As in the project above',
  allowed: 'Allowed',
  forbidden: 'Forbidden',
} as const;

function selfApprovalOf({ selfApprovalForbidden }: Policy): keyof typeof selfApprovals {
  if (selfApprovalForbidden === undefined) return 'above';
  return selfApprovalForbidden ? 'forbidden' : 'allowed';
}

const noEnd = 'No end';

const ttlChoices = [
  { value: '', label: noEnd },
  { value: 'inherit', label: 'As in the organization' },
  { value: '6-h', label: '6 hours' },
  { value: '12-h', label: '12 hours' },
  { value: '1-d', label: '1 day' },
  { value: '3-d', label: '3 days' },
  { value: '1-w', label: '1 week' },
  { value: '2-w', label: '2 weeks' },
  { value: '1-M', label: '1 month' },
] as const;

const units = { h: 'hours', d: 'days', w: 'weeks', M: 'months' } as const;

/** A lifetime as words. @param ttl empty or null: no end */
export function ttlText(ttl: string | null): string {
  const known = ttlChoices.find(({ value }) => value === (ttl ?? ''));
  if (known) return known.label;
  const [count = '', unit = 'h'] = (ttl ?? '').split('-');
  return `${count} ${units[unit as keyof typeof units] ?? unit}`;
}

/** The choices, and any other value that a client has stored. */
export function ttlOptions(value: string): { value: string; label: string }[] {
  const known = ttlChoices.map((choice) => ({ ...choice }));
  return known.some((choice) => choice.value === value)
    ? known
    : [...known, { value, label: ttlText(value) }];
}

/** Both lifetimes come from the organization, or neither does. */
export function lifetimesWith(
  { maxTtl, defaultTtl }: Pick<PolicyValues, 'maxTtl' | 'defaultTtl'>,
  changed: Partial<Pick<PolicyValues, 'maxTtl' | 'defaultTtl'>>,
): Pick<PolicyValues, 'maxTtl' | 'defaultTtl'> {
  if (Object.values(changed).includes('inherit')) return { maxTtl: 'inherit', defaultTtl: 'inherit' };
  const own = (ttl: string) => (ttl === 'inherit' ? '' : ttl);
  return { maxTtl: own(maxTtl), defaultTtl: own(defaultTtl), ...changed };
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
  readonly autoDriftRemediation: AutoDriftRemediation;
  readonly selfApproval: keyof typeof selfApprovals;
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
    selfApproval: selfApprovalOf(policy),
  };
}

const count = (value: string) => (value.trim() === '' ? null : Number(value));

/** The whole policy: what a request leaves out would be turned off. */
export function policyBody(projectId: string, values: PolicyValues): PolicyBody {
  const { flags, maxTtl, defaultTtl, driftDetectionCron, autoDriftRemediation, selfApproval } = values;
  return {
    projectId,
    ...flags,
    numberOfEnvironments: count(values.numberOfEnvironments),
    numberOfEnvironmentsTotal: count(values.numberOfEnvironmentsTotal),
    maxTtl: maxTtl === '' ? null : maxTtl,
    defaultTtl: defaultTtl === '' ? null : defaultTtl,
    ...(driftDetectionCron.trim() === '' ? {} : { driftDetectionCron: driftDetectionCron.trim() }),
    autoDriftRemediation,
    selfApprovalForbidden: selfApproval === 'above' ? null : selfApproval === 'forbidden',
  };
}

/** Problems found before the request, by field. */
export function policyErrors(values: PolicyValues): Readonly<Record<string, string>> {
  const wrong = (['numberOfEnvironments', 'numberOfEnvironmentsTotal'] as const).filter(
    (name) => !/^\d{0,6}$/.test(values[name].trim()) && values[name].trim() !== '1000000',
  );
  const isMissing = values.flags.driftDetectionEnabled && values.driftDetectionCron.trim() === '';
  const fields = values.driftDetectionCron.trim().split(/\s+/).filter(Boolean).length;
  return {
    ...Object.fromEntries(wrong.map((name) => [name, 'A whole number up to 1,000,000; empty: no limit.'])),
    ...(isMissing ? { driftDetectionCron: 'Required: five fields, such as 0 6 * * *.' } : {}),
    ...([0, 5].includes(fields)
      ? {}
      : { driftDetectionCron: 'Five fields: minute, hour, day of month, month, day of week.' }),
  };
}
