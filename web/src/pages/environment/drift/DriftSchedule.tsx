/** When an environment is checked for drift by itself. */
import { Select, Switch } from '@mantine/core';
import { useState } from 'react';
import type { AutoDriftRemediation } from '#contract/schema/enumerations.ts';
import { showDone } from '../../../api/messages.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { remediationChoices } from '../../../design/words.ts';
import { CronField } from '../../../forms/cron/CronField.tsx';
import { readCron } from '../../../forms/cron/cron.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { SaveRow } from '../../../forms/SaveRow.tsx';
import { useQuestionBeforeLeaving } from '../../../forms/use-question-before-leaving.ts';
import { Loaded } from '../../../ui/Loaded.tsx';
import classes from '../facts/environment.module.css';
import { type EnvironmentProps, environmentReads } from '../facts/reads.ts';

interface DriftScheduleValues {
  readonly enabled: boolean;
  readonly cron: string;
  readonly timeZone: string;
  readonly autoDriftRemediation: AutoDriftRemediation;
}

interface RemediationProps {
  readonly stored: AutoDriftRemediation;
  readonly value: AutoDriftRemediation;
  readonly isDisabled: boolean;
  readonly onChange: (value: AutoDriftRemediation) => void;
}

function Remediation({ stored, value, isDisabled, onChange }: RemediationProps) {
  return (
    <Select
      label="When drift is found"
      description="The approval rules of the environment apply to the deployment"
      data={remediationChoices(stored)}
      value={value}
      allowDeselect={false}
      disabled={isDisabled}
      onChange={(next) => next !== null && onChange(next as AutoDriftRemediation)}
    />
  );
}

interface WhenProps {
  readonly values: DriftScheduleValues;
  readonly isDisabled: boolean;
  readonly onChange: (values: DriftScheduleValues) => void;
}

function When({ values, isDisabled, onChange }: WhenProps) {
  return (
    <>
      <Switch
        label="Check for drift on a schedule"
        description="Only while the environment is active; at most once an hour, in the hour after the time below"
        checked={values.enabled}
        disabled={isDisabled}
        onChange={({ currentTarget }) =>
          onChange({ ...values, enabled: currentTarget.checked, cron: values.cron || '0 6 * * *' })
        }
      />
      {values.enabled && (
        <CronField
          label="When"
          value={values.cron}
          disabled={isDisabled}
          onChange={(cron) => onChange({ ...values, cron })}
          timeZone={values.timeZone}
          onTimeZone={(timeZone) => onChange({ ...values, timeZone })}
        />
      )}
    </>
  );
}

function Form({ environment, rights, stored }: EnvironmentProps & { readonly stored: DriftScheduleValues }) {
  const [typed, setTyped] = useState<DriftScheduleValues>();
  const values = typed ?? stored;
  const save = useChange('updateDriftSchedule', {
    refreshes: ['getDriftSchedule', ...environmentReads],
    onSuccess: () => {
      setTyped(undefined);
      showDone('The schedule of drift checks is saved');
    },
    onError: () => true,
  });
  useQuestionBeforeLeaving(
    typed === undefined ? undefined : 'Leave without saving the changed schedule of drift checks?',
  );
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  const problem = values.enabled ? readCron(values.cron, new Date()).problem : undefined;
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        const cron = values.cron.trim();
        save.mutate({
          params: { id: environment.id },
          body: {
            enabled: values.enabled,
            autoDriftRemediation: values.autoDriftRemediation,
            ...(cron === '' ? {} : { cron, timeZone: values.timeZone }),
          },
        });
      }}
    >
      <When values={values} isDisabled={whyNot !== undefined} onChange={setTyped} />
      <Remediation
        stored={stored.autoDriftRemediation}
        value={values.autoDriftRemediation}
        isDisabled={whyNot !== undefined}
        onChange={(autoDriftRemediation) => setTyped({ ...values, autoDriftRemediation })}
      />
      <FormAlert error={save.error} />
      {(typed !== undefined || whyNot !== undefined) && (
        <SaveRow
          verb="Save"
          isBusy={save.isPending}
          isTouched={typed !== undefined}
          whyNot={whyNot ?? problem}
          onDiscard={() => setTyped(undefined)}
        />
      )}
    </form>
  );
}

export function DriftSchedule(props: EnvironmentProps) {
  const { id } = props.environment;
  const query = useRead('getDriftSchedule', { params: { id } });
  return (
    <section className={classes.section} aria-label="Schedule of checks">
      <h2>Schedule of checks</h2>
      <Loaded query={query} lines={2}>
        {({ enabled, cron, timeZone = 'UTC', autoDriftRemediation = 'DISABLED' }) => (
          <Form {...props} stored={{ enabled, cron, timeZone, autoDriftRemediation }} />
        )}
      </Loaded>
    </section>
  );
}
