/** Asks how an environment is deployed, planned, checked for drift, or what task runs on it. */
import { Button, Group, Modal, SegmentedControl } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldOf } from '../../../api/errors.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { isReady, rowOfField } from '../../../forms/variables/checks.ts';
import { isChanged, rowOfVariable, type VariableRow } from '../../../forms/variables/rows.ts';
import { useSearchState } from '../../../ui/search.ts';
import { whyNotStart } from '../facts.ts';
import { deploymentReads, type EnvironmentProps } from '../reads.ts';
import { deployBody, type DeployKind, deployKinds, type DeployValues } from './deploy-body.ts';
import { DeployFields } from './DeployFields.tsx';
import { DeployVariables } from './DeployVariables.tsx';
import classes from '../environment.module.css';

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
  };
}

/** The variables that hold, with what was typed over them. */
function useRows({ id, organizationId }: EnvironmentProps['environment']) {
  const { data } = useRead('listVariables', { query: { organizationId, environmentId: id } });
  const [edited, setEdited] = useState<readonly VariableRow[]>();
  const here = { scope: 'ENVIRONMENT', scopeId: id } as const;
  const rows = edited ?? (data ?? []).map((variable) => rowOfVariable(variable, here));
  return { rows, setRows: setEdited, isRead: data !== undefined };
}

/** Sends it, and puts a refusal where it belongs. */
function useDeploy(props: EnvironmentProps & { readonly onClose: () => void }, kind: string | undefined) {
  const { environment } = props;
  const navigate = useNavigate();
  const form = useForm<DeployValues>({ initialValues: initialValues(props, kind) });
  const variables = useRows(environment);
  const [rowErrors, setRowErrors] = useState<Readonly<Record<string, string>>>({});
  const [isStrict, setIsStrict] = useState(false);
  const deploy = useChange('deployEnvironment', {
    refreshes: [...deploymentReads, 'listVariables'],
    onSuccess: ({ id }) => void navigate({ to: '/deployments/$deploymentId', params: { deploymentId: id } }),
    onError: (error) => {
      const field = fieldOf(error);
      const row = rowOfField(field, variables.rows);
      if (row !== undefined) setRowErrors({ [row]: (error as Error).message });
      if (field === 'blueprintRevision') form.setFieldError('revision', (error as Error).message);
      else if (field?.startsWith('targets')) form.setFieldError('targets', (error as Error).message);
      else if (field === 'comment' || field === 'taskPayload')
        form.setFieldError(field, (error as Error).message);
      return true;
    },
  });
  const send = form.onSubmit((values) => {
    setIsStrict(true);
    setRowErrors({});
    if (!isReady(variables.rows)) return;
    deploy.mutate({ params: { id: environment.id }, body: deployBody(values, environment, variables.rows) });
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
        <SegmentedControl
          aria-label="What to run"
          data={deployKinds.map((value) => ({ value, label: kindWords[value][0] }))}
          {...form.getInputProps('kind')}
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
