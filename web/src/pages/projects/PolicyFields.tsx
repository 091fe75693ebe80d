/** The fields of a policy, each with what it is now and where that comes from. */
import { Select, Switch, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PolicySetting } from '#contract/project-policies/policy-origins.ts';
import type { AutoDriftRemediation } from '#contract/schema/enumerations.ts';
import { useRead } from '../../api/queries.ts';
import { remediationChoices } from '../../design/words.ts';
import { CronField } from '../../forms/cron/CronField.tsx';
import { Section, Wide } from '../../forms/Section.tsx';
import { describeSetting } from '../../forms/without-effect.ts';
import {
  driftFlag,
  type FlagField,
  lifetimesWith,
  type PolicyValues,
  runFlags,
  selfApprovals,
  ttlOptions,
} from './policy-fields.ts';
import classes from './projects.module.css';
import { nowText } from './setting-words.ts';

export interface PolicyFieldsProps {
  readonly values: PolicyValues;
  /** As they hold now. */
  readonly settings: readonly PolicySetting[];
  readonly errors: Readonly<Record<string, string>>;
  readonly isDisabled: boolean;
  readonly onChange: (changes: Partial<PolicyValues>) => void;
}

/** Meaning of a field, and below that its current value. */
function Meaning({
  settings,
  field,
  children,
}: Pick<PolicyFieldsProps, 'settings'> & {
  readonly field: PolicySetting['field'];
  readonly children?: ReactNode;
}) {
  const setting = settings.find((each) => each.field === field);
  return (
    <>
      {children}
      {setting !== undefined && <span className={classes.now}>{nowText(setting)}</span>}
    </>
  );
}

function FlagSwitch({ field, ...props }: PolicyFieldsProps & { readonly field: FlagField }) {
  const { name, label, meaning } = field;
  const { values, isDisabled, onChange, errors } = props;
  return (
    <Wide>
      <Switch
        label={label}
        description={
          <Meaning {...props} field={name}>
            {describeSetting(name, meaning)}
          </Meaning>
        }
        checked={values.flags[name]}
        disabled={isDisabled}
        error={errors[name]}
        onChange={(event) => onChange({ flags: { ...values.flags, [name]: event.currentTarget.checked } })}
      />
    </Wide>
  );
}

export function FlagSection({
  title,
  hint,
  flags,
  ...props
}: PolicyFieldsProps & {
  readonly title: string;
  readonly hint?: string;
  readonly flags: readonly FlagField[];
}) {
  return (
    <Section title={title} hint={hint}>
      {flags.map((field) => (
        <FlagSwitch key={field.name} field={field} {...props} />
      ))}
    </Section>
  );
}

const limits = [
  ['numberOfEnvironments', 'Environments of one person'],
  ['numberOfEnvironmentsTotal', 'Environments of the project'],
] as const;

/** Current number. */
function useUsage(projectId: string): string {
  const { data } = useRead('checkPolicyLimits', { query: { projectId } });
  const active = 'Active are environments that were deployed and are neither destroyed nor archived.';
  if (data === undefined) return active;
  const isReached = data.warnings.total || data.warnings.user;
  return `${active} Now: ${data.total}, of them yours: ${data.user}.${isReached ? ' One more would be refused.' : ''}`;
}

export function Limits({ projectId, ...props }: PolicyFieldsProps & { readonly projectId: string }) {
  const { values, errors, isDisabled, onChange } = props;
  return (
    <Section title="Active environments" hint={useUsage(projectId)}>
      {limits.map(([name, label]) => (
        <TextInput
          key={name}
          label={label}
          description={
            <Meaning {...props} field={name}>
              {name === 'numberOfEnvironments'
                ? 'Admins have no limit. Empty: no limit.'
                : 'Empty: no limit.'}
            </Meaning>
          }
          inputMode="numeric"
          value={values[name]}
          disabled={isDisabled}
          onChange={(event) => onChange({ [name]: event.currentTarget.value })}
          error={errors[name]}
        />
      ))}
    </Section>
  );
}

const lifetimes = [
  ['defaultTtl', 'Lifetime without another one', 'No end: the longest lifetime, if there is one.'],
  ['maxTtl', 'Longest lifetime', 'Counted from the creation of an environment.'],
] as const;

export function Lifetimes(props: PolicyFieldsProps) {
  const { values, errors, isDisabled, onChange } = props;
  return (
    <Section title="Lifetimes" hint="Both from the organization, or both from this project.">
      {lifetimes.map(([name, label, meaning]) => (
        <Select
          key={name}
          label={label}
          description={
            <Meaning {...props} field={name}>
              {meaning}
            </Meaning>
          }
          data={ttlOptions(values[name])}
          value={values[name]}
          disabled={isDisabled}
          allowDeselect={false}
          onChange={(value) => onChange(lifetimesWith(values, { [name]: value ?? '' }))}
          error={errors[name]}
        />
      ))}
    </Section>
  );
}

export function Runs(props: PolicyFieldsProps) {
  const { values, errors, isDisabled, onChange } = props;
  return (
    <Section title="Runs">
      {runFlags.map((field) => (
        <FlagSwitch key={field.name} field={field} {...props} />
      ))}
      <Select
        label="Approving one's own plan"
        description={<Meaning {...props} field="selfApprovalForbidden" />}
        data={Object.entries(selfApprovals).map(([value, label]) => ({ value, label }))}
        value={values.selfApproval}
        disabled={isDisabled}
        allowDeselect={false}
        onChange={(value) =>
          value !== null && onChange({ selfApproval: value as keyof typeof selfApprovals })
        }
        error={errors.selfApprovalForbidden}
      />
    </Section>
  );
}

export function Drift(props: PolicyFieldsProps) {
  const { values, errors, isDisabled, onChange } = props;
  return (
    <Section title="Drift">
      <FlagSwitch field={driftFlag} {...props} />
      <Wide>
        <CronField
          label="When it is checked"
          description={
            <Meaning {...props} field="driftDetectionCron">
              Minute, hour, day of month, month, day of week; in UTC. It is checked once an hour at most.
            </Meaning>
          }
          value={values.driftDetectionCron}
          disabled={isDisabled}
          onChange={(driftDetectionCron) => onChange({ driftDetectionCron })}
          error={errors.driftDetectionCron}
        />
      </Wide>
      <Select
        label="When drift is found"
        description={<Meaning {...props} field="autoDriftRemediation" />}
        data={remediationChoices(values.autoDriftRemediation)}
        value={values.autoDriftRemediation}
        disabled={isDisabled}
        allowDeselect={false}
        onChange={(value) =>
          value !== null && onChange({ autoDriftRemediation: value as AutoDriftRemediation })
        }
        error={errors.autoDriftRemediation}
      />
    </Section>
  );
}
