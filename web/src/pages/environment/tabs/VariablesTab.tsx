/** The variables that an environment runs with: where each is from, what it hides; its own can be changed. */
import { Button } from '@mantine/core';
import { useRef, useState } from 'react';
import { fieldOf, fieldText } from '../../../api/errors.ts';
import { showDone } from '../../../api/messages.ts';
import { useChange } from '../../../api/queries.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { useQuestionBeforeLeaving } from '../../../forms/use-question-before-leaving.ts';
import { isReady, rowOfField } from '../../../forms/variables/checks.ts';
import { changesOf } from '../../../forms/variables/rows.ts';
import { VariablesEditor } from '../../../forms/variables/VariablesEditor.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import classes from '../facts/environment.module.css';
import { whyNotStart } from '../facts/facts.ts';
import { deploymentReads, type EnvironmentProps } from '../facts/reads.ts';
import { AssignedSets } from '../variables/AssignedSets.tsx';
import { useOrigins } from '../variables/origins.tsx';
import { useRows } from '../variables/use-rows.ts';

/** Stores the changes, or stores them with a deployment. */
function useSaving(
  { environment }: EnvironmentProps,
  { rows, onSaved, onRefreshed }: ReturnType<typeof useRows>,
) {
  const { id, organizationId } = environment;
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [isStrict, setIsStrict] = useState(false);
  const sent = useRef(rows);
  const onError = (error: unknown) => {
    const row = rowOfField(fieldOf(error), rows);
    if (row !== undefined) setErrors({ [row]: fieldText(error) });
    return true;
  };
  const end = (message: string) => {
    setErrors({});
    setIsStrict(false);
    onSaved(sent.current);
    showDone(message);
  };
  const save = useChange('saveVariables', {
    refreshes: ['listVariables'],
    onError,
    onSuccess: () => end('Saved. The next deployment uses it.'),
    onRefreshed,
  });
  const deploy = useChange('deployEnvironment', {
    refreshes: [...deploymentReads, 'listVariables'],
    onError,
    onSuccess: () => end('Saved, and the deployment is requested.'),
    onRefreshed,
  });
  const whenReady = (send: () => void) => () => {
    setIsStrict(true);
    setErrors({});
    sent.current = rows;
    if (isReady(rows)) send();
  };
  const place = { organizationId, scope: 'ENVIRONMENT', scopeId: id } as const;
  return {
    errors,
    isStrict,
    error: save.error ?? deploy.error,
    isBusy: save.isPending || deploy.isPending,
    save: whenReady(() => save.mutate({ body: changesOf(rows).map((change) => ({ ...change, ...place })) })),
    deploy: whenReady(() =>
      deploy.mutate({
        params: { id },
        body: { configurationChanges: changesOf(rows), comment: 'Variables changed' },
      }),
    ),
  };
}

function NoVariables({ environment }: Pick<EnvironmentProps, 'environment'>) {
  const { id, organizationId } = environment;
  const first = { name: 'region', value: 'eu-west-1', type: 1, scope: 'ENVIRONMENT', scopeId: id } as const;
  return (
    <EmptyState
      title="No variables"
      call={callOf('Set a variable', 'saveVariables', { body: [{ ...first, organizationId }] }, [
        ...['variables', 'set', '--environment', id, '--var', 'region=eu-west-1'],
      ])}
    >
      Neither this environment nor its project, template or organization has any.
    </EmptyState>
  );
}

interface SaveBarProps extends EnvironmentProps {
  readonly changed: number;
  readonly saving: ReturnType<typeof useSaving>;
  readonly onDiscard: () => void;
}

function SaveBar({ environment, rights, changed, saving, onDiscard }: SaveBarProps) {
  return (
    <div className={classes.saveBar}>
      <span role="status">{changed === 1 ? '1 change' : `${changed} changes`}, not saved yet</span>
      <FormAlert error={saving.error} />
      <Button variant="default" onClick={onDiscard}>
        Discard
      </Button>
      <Button variant="default" loading={saving.isBusy} onClick={saving.save}>
        Save
      </Button>
      <ActionButton
        whyNot={whyNotStart(environment, 'deploy', rights)}
        loading={saving.isBusy}
        onClick={saving.deploy}
      >
        Save and deploy
      </ActionButton>
    </div>
  );
}

export default function VariablesTab(props: EnvironmentProps) {
  const { environment, rights } = props;
  const variables = useRows(props);
  const { query, rows, setRows, unsaved: changed, codeError } = variables;
  const saving = useSaving(props, variables);
  const { originOf } = useOrigins(environment);
  useQuestionBeforeLeaving(changed === 0 ? undefined : `Leave without saving ${changed} changed variables?`);
  const whyNot = rights.whyNot('EDIT_ENVIRONMENT_SETTINGS');
  return (
    <Loaded query={query}>
      {() => (
        <>
          <p className={classes.hint}>
            What the next deployment runs with. Change an inherited value to override it in this environment.
            {whyNot === undefined ? '' : ` ${whyNot}`}
          </p>
          {codeError && (
            <p className={classes.hint}>The variables of the code cannot be read: {codeError.message}</p>
          )}
          {rows.length === 0 && <NoVariables environment={environment} />}
          <VariablesEditor
            label="Variables"
            rows={rows}
            onChange={setRows}
            errors={saving.errors}
            whyNot={whyNot}
            isStrict={saving.isStrict}
            showsOrigin
            originOf={originOf}
          />
          {changed > 0 && <SaveBar {...props} {...{ changed, saving }} onDiscard={() => setRows([])} />}
          <AssignedSets {...props} />
        </>
      )}
    </Loaded>
  );
}
