/** When an environment expires and is destroyed automatically. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldOf, fieldText } from '../../../api/errors.ts';
import { showDone } from '../../../api/messages.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { SaveRow } from '../../../forms/SaveRow.tsx';
import { Segments } from '../../../forms/Segments.tsx';
import { useQuestionBeforeLeaving } from '../../../forms/use-question-before-leaving.ts';
import { TimeAgo, useNow } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import { noDestroys } from '../facts/facts.ts';
import { type EnvironmentProps, environmentReads } from '../facts/reads.ts';
import {
  type LifetimeValues,
  latestEnd,
  lifetimeBody,
  lifetimeProblem,
  lifetimeValues,
  localText,
  policyWords,
} from './lifetime.ts';

/** Limits by the policy of the project, or that of its organization. */
function Limit({ environment, rights }: EnvironmentProps) {
  const { organizationId, projectId, createdAt } = environment;
  const { data: organization } = useRead('getOrganization', { params: { id: organizationId } });
  const { data: policy } = useRead(
    'getPolicy',
    { query: { projectId } },
    { enabled: rights.has('VIEW_PROJECT') },
  );
  if (policy === undefined) return null;
  if (policy.disableDestroyEnvironments)
    return <p className={classes.hint}>It cannot have an end: {noDestroys}</p>;
  const isInherited = policy.maxTtl === 'inherit';
  const maxTtl = isInherited ? organization?.maxTtl : policy.maxTtl;
  const words = policyWords(maxTtl);
  const end = latestEnd(maxTtl, createdAt ?? '');
  if (words === undefined || end === undefined) return null;
  return (
    <p className={classes.hint}>
      The {isInherited ? 'organization' : 'policy of the project'} allows {words} from the creation, which is
      until {localText(end).replace('T', ' ')}.
      {rights.has('OVERRIDE_MAX_TTL') ? ' You may set a later end.' : ''}
    </p>
  );
}

const kinds = [
  { value: 'hours', label: 'Hours from now' },
  { value: 'date', label: 'Until a time' },
  { value: 'infinite', label: 'No end' },
] as const;

interface LifetimeFieldsProps {
  readonly values: LifetimeValues;
  readonly set: (changes: Partial<LifetimeValues>) => void;
  readonly error: string | undefined;
  readonly isDisabled: boolean;
}

function Fields({ values, set, error, isDisabled }: LifetimeFieldsProps) {
  return (
    <>
      <Segments
        label="Lifetime"
        data={kinds}
        value={values.kind}
        disabled={isDisabled}
        onChange={(kind) => set({ kind })}
      />
      {values.kind === 'hours' && (
        <TextInput
          label="Hours"
          inputMode="numeric"
          maw={200}
          value={values.hours}
          error={error}
          disabled={isDisabled}
          onChange={({ currentTarget }) => set({ hours: currentTarget.value })}
        />
      )}
      {values.kind === 'date' && (
        <TextInput
          label="Until"
          description="In your time zone"
          type="datetime-local"
          maw={260}
          value={values.date}
          error={error}
          disabled={isDisabled}
          onChange={({ currentTarget }) => set({ date: currentTarget.value })}
        />
      )}
      {values.kind === 'infinite' && error !== undefined && <p className={classes.problem}>{error}</p>}
    </>
  );
}

function useLifetime({ environment }: EnvironmentProps) {
  const [typed, setTyped] = useState<LifetimeValues>();
  const values = typed ?? lifetimeValues(environment.lifespanEndAt);
  const save = useChange('updateEnvironmentTtl', {
    refreshes: environmentReads,
    onSuccess: () => {
      setTyped(undefined);
      showDone('The lifetime is saved');
    },
    onError: () => true,
  });
  const refusal = fieldOf(save.error) === undefined ? undefined : fieldText(save.error);
  return {
    values,
    isTouched: typed !== undefined,
    set: (changes: Partial<LifetimeValues>) => {
      save.reset();
      setTyped({ ...values, ...changes });
    },
    discard: () => setTyped(undefined),
    send: () => save.mutate({ params: { id: environment.id }, body: lifetimeBody(values) }),
    isBusy: save.isPending,
    /** At a field, and elsewhere. */
    refusal,
    error: refusal === undefined ? save.error : undefined,
  };
}

export function LifetimeForm(props: EnvironmentProps) {
  const { environment, rights } = props;
  const { values, isTouched, set, discard, send, isBusy, refusal, error } = useLifetime(props);
  const now = useNow();
  const { lifespanEndAt: end } = environment;
  useQuestionBeforeLeaving(isTouched ? 'Leave without saving the changed lifetime?' : undefined);
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  const problem = isTouched ? lifetimeProblem(values, now) : undefined;
  return (
    <section className={classes.section} aria-label="Lifetime">
      <h2>Lifetime</h2>
      <p>
        {end ? (
          <>
            Everything is destroyed <TimeAgo at={end} />.
          </>
        ) : (
          'It does not expire.'
        )}
      </p>
      <Limit {...props} />
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === undefined) send();
        }}
      >
        <Fields values={values} set={set} error={refusal ?? problem} isDisabled={whyNot !== undefined} />
        <FormAlert error={error} />
        <SaveRow
          verb="Save the lifetime"
          isBusy={isBusy}
          isTouched={isTouched}
          whyNot={whyNot ?? problem}
          onDiscard={discard}
        />
      </form>
    </section>
  );
}
