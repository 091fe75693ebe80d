/** When an environment is checked for drift by itself. */
import { Button, Switch } from '@mantine/core';
import { useState } from 'react';
import { useChange, useRead } from '../../../api/queries.ts';
import { CronField } from '../../../forms/cron/CronField.tsx';
import { readCron } from '../../../forms/cron/cron.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { showDone } from '../../../ui/messages.ts';
import classes from '../environment.module.css';
import { environmentReads, type EnvironmentProps } from '../reads.ts';

interface Values {
  readonly enabled: boolean;
  readonly cron: string;
}

function Form({ environment, rights, stored }: EnvironmentProps & { readonly stored: Values }) {
  const [typed, setTyped] = useState<Values>();
  const values = typed ?? stored;
  const save = useChange('updateDriftSchedule', {
    refreshes: ['getDriftSchedule', ...environmentReads],
    onSuccess: () => {
      setTyped(undefined);
      showDone('The schedule of drift checks is saved');
    },
    onError: () => true,
  });
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
          body: { enabled: values.enabled, ...(cron === '' ? {} : { cron }) },
        });
      }}
    >
      <Switch
        label="Check for drift on a schedule"
        description="Only while the environment is active"
        checked={values.enabled}
        disabled={whyNot !== undefined}
        onChange={({ currentTarget }) =>
          setTyped({ enabled: currentTarget.checked, cron: values.cron || '0 6 * * *' })
        }
      />
      {values.enabled && (
        <CronField
          label="When"
          value={values.cron}
          disabled={whyNot !== undefined}
          onChange={(cron) => setTyped({ ...values, cron })}
        />
      )}
      <FormAlert error={save.error} />
      {(typed !== undefined || whyNot !== undefined) && (
        <div className={classes.row}>
          <ActionButton type="submit" size="xs" loading={save.isPending} whyNot={whyNot ?? problem}>
            Save
          </ActionButton>
          {typed !== undefined && (
            <Button size="xs" variant="default" onClick={() => setTyped(undefined)}>
              Discard
            </Button>
          )}
        </div>
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
        {({ enabled, cron }) => <Form {...props} stored={{ enabled, cron }} />}
      </Loaded>
    </section>
  );
}
