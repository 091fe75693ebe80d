/** Asks how an environment is deployed, planned, checked for drift, or what task runs on it. */
import { Button, Group, Modal, Skeleton } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldOf, fieldText } from '../../../api/errors.ts';
import { useChange } from '../../../api/queries.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { Segments } from '../../../forms/Segments.tsx';
import { isReady, rowOfField } from '../../../forms/variables/checks.ts';
import { isChanged, type VariableFormRow } from '../../../forms/variables/rows.ts';
import { VariablesEditor } from '../../../forms/variables/VariablesEditor.tsx';
import { useSearchState } from '../../../ui/search.ts';
import classes from '../facts/environment.module.css';
import { whyNotStart } from '../facts/facts.ts';
import { deploymentReads, type EnvironmentProps } from '../facts/reads.ts';
import { useRows } from '../variables/use-rows.ts';
import { DeployFields } from './DeployFields.tsx';
import { type DeployKind, type DeployValues, deployBody, deployKinds } from './deploy-body.ts';

interface DeployVariablesProps {
  readonly rows: readonly VariableFormRow[];
  readonly setRows: (rows: readonly VariableFormRow[]) => void;
  readonly isRead: boolean;
  readonly changed: number;
  readonly errors: Readonly<Record<string, string>>;
  readonly isStrict: boolean;
  readonly kind: DeployKind;
}

/** The variables of a deployment, folded until one is to be changed. */
function DeployVariables({ rows, setRows, isRead, changed, errors, isStrict, kind }: DeployVariablesProps) {
  const [isOpen, setIsOpen] = useState(false);
  const count = changed === 0 ? `${rows.length}` : `${changed} changed`;
  return (
    <section aria-label="Variables">
      <Button variant="default" size="xs" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Variables ({isRead ? count : '…'})
      </Button>
      {isOpen && (
        <>
          <p className={classes.hint}>
            {kind === 'dryRun'
              ? 'Changes hold for this plan only.'
              : 'Changes are stored in the environment; without the right to apply, when the plan is approved.'}
          </p>
          {isRead ? (
            <VariablesEditor
              label="Variables of the deployment"
              rows={rows}
              onChange={setRows}
              errors={errors}
              isStrict={isStrict}
              showsOrigin
            />
          ) : (
            <Skeleton height={40} />
          )}
        </>
      )}
    </section>
  );
}

const kindWords: Readonly<Record<DeployKind, [label: string, verb: string, text: string]>> = {
  deploy: ['Deploy', 'Deploy', 'Plans the newest code and applies the plan.'],
  dryRun: ['Plan only', 'Plan', 'Shows what a deployment would change, and changes nothing.'],
  driftDetection: [
    'Drift check',
    'Check',
    'Compares what is there with the state and the code; changes nothing.',
  ],
  task: ['Task', 'Run', 'Runs shell commands on the code and the state of the last deploy.'],
};

const actionOf = {
  deploy: 'deploy',
  dryRun: 'plan',
  driftDetection: 'driftDetection',
  task: 'task',
} as const;

function initialValues({ environment }: EnvironmentProps, kind: string | undefined): DeployValues {
  return {
    kind: deployKinds.find((each) => each === kind) ?? 'deploy',
    comment: '',
    revision: environment.latestDeploymentLog?.blueprintRevision ?? '',
    templateId: '',
    targets: '',
    requiresApproval: environment.requiresApproval,
    taskPayload: '',
    importUnrecorded: false,
    hours: '',
  };
}

/** Sends it, and puts a refusal where it belongs. */
function useDeploy(props: EnvironmentProps & { readonly onClose: () => void }, kind: string | undefined) {
  const { environment } = props;
  // Changes by other users while the dialog is open are not undone by an untouched field.
  const [opened] = useState(environment);
  const navigate = useNavigate();
  const form = useForm<DeployValues>({ initialValues: initialValues(props, kind) });
  const variables = useRows(props);
  const [rowErrors, setRowErrors] = useState<Readonly<Record<string, string>>>({});
  const [isStrict, setIsStrict] = useState(false);
  const deploy = useChange('deployEnvironment', {
    refreshes: [...deploymentReads, 'listVariables'],
    onSuccess: ({ id }) => void navigate({ to: '/deployments/$deploymentId', params: { deploymentId: id } }),
    onError: (error) => {
      const field = fieldOf(error);
      const row = rowOfField(field, variables.rows);
      if (row !== undefined) setRowErrors({ [row]: fieldText(error) });
      if (field === 'blueprintRevision') form.setFieldError('revision', fieldText(error));
      else if (field?.startsWith('targets')) form.setFieldError('targets', fieldText(error));
      else if (field?.startsWith('ttl')) form.setFieldError('hours', fieldText(error));
      else if (field === 'comment' || field === 'taskPayload') form.setFieldError(field, fieldText(error));
      return true;
    },
  });
  const send = form.onSubmit((values) => {
    setIsStrict(true);
    setRowErrors({});
    if (!isReady(variables.rows)) return;
    deploy.mutate({ params: { id: environment.id }, body: deployBody(values, opened, variables.rows) });
  });
  return { form, variables, rowErrors, isStrict, deploy, send };
}

export default function DeployDialog(props: EnvironmentProps & { readonly onClose: () => void }) {
  const { environment, rights, onClose } = props;
  const [search] = useSearchState();
  const { form, variables, rowErrors, isStrict, deploy, send } = useDeploy(props, search.type);
  const { kind } = form.values;
  const [, verb, text] = kindWords[kind];
  const whyNot = whyNotStart(environment, actionOf[kind], rights);
  const changed = variables.rows.filter(isChanged).length;
  return (
    <Modal opened onClose={onClose} size="xl" title={`${kindWords[kind][0]}: ${environment.name}`}>
      <form onSubmit={send} className={classes.dialog}>
        <Segments
          label="What to run"
          data={deployKinds.map((value) => ({ value, label: kindWords[value][0] }))}
          value={kind}
          onChange={(next) => form.setFieldValue('kind', next)}
        />
        <p className={classes.hint}>{text}</p>
        <FormAlert error={deploy.error} />
        <DeployFields environment={environment} rights={rights} form={form} />
        {kind !== 'driftDetection' && (
          <DeployVariables
            {...variables}
            changed={changed}
            errors={rowErrors}
            isStrict={isStrict}
            kind={kind}
          />
        )}
        {whyNot !== undefined && <p className={classes.problem}>{whyNot}</p>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={deploy.isPending} disabled={whyNot !== undefined}>
            {verb}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
