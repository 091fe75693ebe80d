/** The settings of an environment; nothing typed is lost when another user changes them too. */
import { Alert, Button } from '@mantine/core';
import { fieldOf, fieldText } from '../../../api/errors.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { intoView, useWrongField } from '../../../forms/problems.ts';
import { SaveButtons } from '../../../forms/SaveRow.tsx';
import { FormFoot } from '../../../forms/Section.tsx';
import { useQuestionBeforeLeaving } from '../../../forms/use-question-before-leaving.ts';
import type { EnvironmentProps } from '../facts/reads.ts';
import { Downstream } from '../settings/Downstream.tsx';
import { EndOfLife } from '../settings/EndOfLife.tsx';
import { SettingsFields } from '../settings/SettingsFields.tsx';
import type { SettingName } from '../settings/settings-values.ts';
import { Overtaken, type SettingsEditing, useSettings } from '../settings/use-settings.ts';

const settingWords: Readonly<Partial<Record<SettingName, string>>> = {
  name: 'the name',
  description: 'the description',
  tags: 'the tags',
  requiresApproval: 'whether plans wait for approval',
};

function Conflict({ editing, error }: { readonly editing: SettingsEditing; readonly error: Overtaken }) {
  const what = error.names.map((name) => settingWords[name] ?? name).join(', ');
  const theirs = error.names.map((name) => String(error.theirs[name])).join(', ');
  return (
    <Alert
      ref={intoView}
      color="yellow"
      role="alert"
      my="md"
      title={`Someone else has changed ${what} in the meantime`}
    >
      <p>
        Now it is <q dir="auto">{theirs}</q>. What you typed is kept.
      </p>
      <Button size="xs" onClick={editing.replace} loading={editing.isBusy}>
        Replace theirs
      </Button>{' '}
      <Button size="xs" variant="default" onClick={editing.reset}>
        Take theirs
      </Button>
    </Alert>
  );
}

export default function SettingsTab(props: EnvironmentProps) {
  const { environment, rights } = props;
  const editing = useSettings(environment);
  const { error, isTouched, isBusy } = editing;
  useQuestionBeforeLeaving(isTouched ? 'Leave without saving the changed settings?' : undefined);
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  const field = fieldOf(error);
  const isShown = field !== undefined && field in editing.values;
  useWrongField(isShown ? (error ?? undefined) : undefined);
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          editing.save();
        }}
      >
        <SettingsFields
          {...props}
          values={editing.values}
          set={editing.set}
          isDisabled={whyNot !== undefined}
          errorOf={(name) => (field === name || field?.startsWith(`${name}.`) ? fieldText(error) : undefined)}
        />
        {error instanceof Overtaken ? (
          <Conflict editing={editing} error={error} />
        ) : (
          !isShown && <FormAlert error={error} />
        )}
        <FormFoot>
          <SaveButtons {...{ isBusy, isTouched, whyNot }} onDiscard={editing.reset} />
        </FormFoot>
      </form>
      <Downstream {...props} />
      <EndOfLife {...props} />
    </>
  );
}
