/** When an environment is deployed and destroyed by itself. */
import { Switch } from '@mantine/core';
import { type FormEvent, useRef } from 'react';
import { fieldOf, fieldText, isStatus } from '../../../api/errors.ts';
import { showDone } from '../../../api/messages.ts';
import { type Refetch, type Reply, type Tagged, useChange, useTagged } from '../../../api/queries.ts';
import { CronField } from '../../../forms/cron/CronField.tsx';
import { readCron } from '../../../forms/cron/cron.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { Overtaken } from '../../../forms/Overtaken.tsx';
import { SaveRow } from '../../../forms/SaveRow.tsx';
import { useEditing } from '../../../forms/use-editing.ts';
import { useQuestionBeforeLeaving } from '../../../forms/use-question-before-leaving.ts';
import { Loaded } from '../../../ui/Loaded.tsx';
import classes from '../facts/environment.module.css';
import { type EnvironmentProps, environmentReads } from '../facts/reads.ts';

type ScheduleReply = Reply<'getEnvironmentSchedule'>;

interface One {
  readonly isOn: boolean;
  readonly cron: string;
  readonly timeZone: string;
}
type ScheduleFormValues = Readonly<Record<'deploy' | 'destroy', One>>;

const nothing: One = { isOn: false, cron: '', timeZone: 'UTC' };

function valuesOf({ deploy, destroy }: ScheduleReply): ScheduleFormValues {
  const one = (schedule: ScheduleReply['deploy']): One =>
    schedule ? { isOn: schedule.enabled, cron: schedule.cron, timeZone: schedule.timeZone } : nothing;
  return { deploy: one(deploy), destroy: one(destroy) };
}

/** A schedule that is off keeps its expression; one without an expression is left out. */
function bodyOf({ deploy, destroy }: ScheduleFormValues) {
  const one = ({ isOn, cron, timeZone }: One) => ({ cron: cron.trim(), timeZone, enabled: isOn });
  return {
    ...(deploy.cron.trim() === '' ? {} : { deploy: one(deploy) }),
    ...(destroy.cron.trim() === '' ? {} : { destroy: one(destroy) }),
  };
}

const suggested = { deploy: '0 6 * * 1-5', destroy: '0 20 * * 1-5' } as const;
const words = {
  deploy: ['Deploy on a schedule', 'Deploy at'],
  destroy: ['Destroy on a schedule', 'Destroy at'],
} as const;

interface ScheduleFieldProps {
  readonly name: 'deploy' | 'destroy';
  readonly one: One;
  readonly set: (one: One) => void;
  readonly isDisabled: boolean;
  readonly error: string | undefined;
}

function OneSchedule({ name, one, set, isDisabled, error }: ScheduleFieldProps) {
  const [label, fieldLabel] = words[name];
  return (
    <div className={classes.form}>
      <Switch
        label={label}
        checked={one.isOn}
        disabled={isDisabled}
        onChange={({ currentTarget }) =>
          set({ ...one, isOn: currentTarget.checked, cron: one.cron === '' ? suggested[name] : one.cron })
        }
      />
      {one.isOn && (
        <CronField
          label={fieldLabel}
          value={one.cron}
          disabled={isDisabled}
          error={error}
          onChange={(cron) => set({ ...one, cron })}
          timeZone={one.timeZone}
          onTimeZone={(timeZone) => set({ ...one, timeZone })}
        />
      )}
    </div>
  );
}

function problemOf({ deploy, destroy }: ScheduleFormValues, now: Date): string | undefined {
  const wrong = [deploy, destroy].find(({ isOn, cron }) => isOn && readCron(cron, now).problem !== undefined);
  return wrong === undefined ? undefined : 'Correct the cron expression.';
}

interface ScheduleFormProps extends EnvironmentProps {
  readonly read: Tagged<ScheduleReply>;
  readonly refetch: Refetch;
}

function useSchedule({ environment, read, refetch }: ScheduleFormProps) {
  const editing = useEditing(read, valuesOf, refetch);
  const sent = useRef(editing.values);
  const save = useChange('updateEnvironmentSchedule', {
    refreshes: ['getEnvironmentSchedule', ...environmentReads],
    onSuccess: () => {
      editing.saved(sent.current);
      showDone('The schedule is saved');
    },
    onError: (error) => editing.onRefused(error) || true,
  });
  const problem = problemOf(editing.values, new Date());
  const field = fieldOf(save.error);
  return {
    editing,
    problem,
    isBusy: save.isPending,
    errorOf: (name: string) => (field?.startsWith(name) ? fieldText(save.error) : undefined),
    /** Problems that neither a field nor the notice about another user shows. */
    error: field !== undefined || isStatus(save.error, 412) ? undefined : save.error,
    send: (event: FormEvent) => {
      event.preventDefault();
      const { values, etag: ifMatch } = editing;
      if (problem !== undefined) return;
      sent.current = values;
      save.mutate({ params: { id: environment.id }, body: bodyOf(values), ...(ifMatch ? { ifMatch } : {}) });
    },
  };
}

function Form(props: ScheduleFormProps) {
  const { environment, rights } = props;
  const { editing, problem, isBusy, errorOf, error, send } = useSchedule(props);
  const { values, change, isTouched, reset, isOvertaken } = editing;
  useQuestionBeforeLeaving(isTouched ? 'Leave without saving the changed schedule?' : undefined);
  const whyNot = rights.whyNot('RUN_APPLY');
  const endsLifetime = isTouched && environment.lifespanEndAt !== null;
  return (
    <form className={classes.form} onSubmit={send}>
      {isOvertaken && <Overtaken what="the schedule" onReset={reset} />}
      {(['deploy', 'destroy'] as const).map((name) => (
        <OneSchedule
          key={name}
          name={name}
          one={values[name]}
          set={(one) => change({ [name]: one })}
          isDisabled={whyNot !== undefined}
          error={errorOf(name)}
        />
      ))}
      {endsLifetime && (values.deploy.isOn || values.destroy.isOn) && (
        <p className={classes.problem}>A schedule replaces the lifetime: the environment will have no end.</p>
      )}
      <FormAlert error={error} />
      <SaveRow
        verb="Save the schedule"
        isBusy={isBusy}
        isTouched={isTouched}
        whyNot={whyNot ?? (isTouched ? problem : undefined)}
        onDiscard={reset}
      />
    </form>
  );
}

export function ScheduleForm(props: EnvironmentProps) {
  const { id } = props.environment;
  const query = useTagged('getEnvironmentSchedule', { params: { id } });
  return (
    <section className={classes.section} aria-label="Schedule">
      <h2>Schedule</h2>
      <p className={classes.hint}>
        Schedules start once a deployment has succeeded. Runs that fall due while the environment is locked or
        archived are skipped.
      </p>
      <Loaded query={query} lines={3}>
        {(read) => <Form {...props} read={read} refetch={query.refetch} />}
      </Loaded>
    </section>
  );
}
