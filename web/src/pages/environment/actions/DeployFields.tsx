/** The fields of the deploy dialog, those that fit what is run. */
import { Alert, Autocomplete, Checkbox, Code, Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useRead } from '../../../api/queries.ts';
import classes from '../facts/environment.module.css';
import type { EnvironmentProps } from '../facts/reads.ts';
import type { DeployValues } from './deploy-body.ts';

export interface DeployFieldsProps extends EnvironmentProps {
  readonly form: UseFormReturnType<DeployValues>;
}

/** The branches and tags, as far as they can be read. */
function RevisionField({ environment, rights, form }: DeployFieldsProps) {
  const { latestDeploymentLog: latest, projectId } = environment;
  const repository = latest?.blueprintRepository ?? '';
  const mayRead = rights.has('CREATE_VCS_ENVIRONMENT') || rights.has('CREATE_AND_EDIT_TEMPLATES');
  const { data } = useRead(
    'listRepositoryRevisions',
    { query: { repository, projectId } },
    { enabled: repository !== '' && mayRead },
  );
  return (
    <Autocomplete
      label="Revision"
      description="Branch, tag or commit; later deployments use it too. Empty: the default branch."
      data={[...new Set([...(data?.heads ?? []), ...(data?.tags ?? [])])]}
      {...form.getInputProps('revision')}
    />
  );
}

function TemplateField({ environment, form }: DeployFieldsProps) {
  const { projectId, latestDeploymentLog: latest } = environment;
  const { data = [] } = useRead('listTemplates', { query: { projectId } });
  const others = data.filter(({ id }) => id !== latest?.blueprintId);
  if (environment.isSingleUseBlueprint || others.length === 0) return null;
  return (
    <Select
      label="Template"
      description="Later deployments use it too."
      placeholder={latest?.blueprintName}
      clearable
      data={others.flatMap(({ id, name }) => (id === undefined ? [] : [{ value: id, label: name }]))}
      {...form.getInputProps('templateId')}
      value={form.values.templateId || null}
      onChange={(id) => form.setFieldValue('templateId', id ?? '')}
    />
  );
}

function Unrecorded({ environment, form }: DeployFieldsProps) {
  const unrecorded = environment.latestDeploymentLog?.unrecordedResources ?? [];
  if (unrecorded.length === 0) return null;
  return (
    <Alert color="yellow" title={`${unrecorded.length} resources are in no state`}>
      The tool was killed after it had created them:{' '}
      {unrecorded.slice(0, 5).map(({ address }) => (
        <Code key={address}>{address} </Code>
      ))}
      <Checkbox
        mt="xs"
        label="Import those that were certainly created"
        {...form.getInputProps('importUnrecorded', { type: 'checkbox' })}
      />
    </Alert>
  );
}

function ApprovalField({ rights, form }: DeployFieldsProps) {
  const whyNot = rights.whyNot('RUN_APPLY');
  return (
    <Switch
      label="The plan waits for approval"
      description={
        whyNot === undefined ? 'In this and later deployments.' : `Cannot be turned off. ${whyNot}`
      }
      disabled={whyNot !== undefined && form.values.requiresApproval}
      {...form.getInputProps('requiresApproval', { type: 'checkbox' })}
    />
  );
}

export function DeployFields(props: DeployFieldsProps) {
  const { form, environment } = props;
  const { kind } = form.values;
  return (
    <>
      {kind === 'task' && (
        <Textarea
          label="Commands"
          description="A shell runs them until one fails. The log shows them: pass secrets as sensitive variables."
          required
          autosize
          minRows={3}
          spellCheck={false}
          classNames={{ input: classes.mono! }}
          {...form.getInputProps('taskPayload')}
        />
      )}
      <TextInput
        label="Comment"
        placeholder="Shown with the deployment"
        data-autofocus
        {...form.getInputProps('comment')}
      />
      {kind !== 'task' && <RevisionField {...props} />}
      {kind === 'deploy' && <TemplateField {...props} />}
      {(kind === 'deploy' || kind === 'dryRun') && (
        <>
          <Textarea
            label="Targets"
            description="Addresses of resources or modules, one per line. Empty: everything."
            autosize
            spellCheck={false}
            classNames={{ input: classes.mono! }}
            {...form.getInputProps('targets')}
          />
          <Unrecorded {...props} />
        </>
      )}
      {kind === 'deploy' && environment.lifespanEndAt !== null && (
        <TextInput
          label="New lifetime"
          description="Hours from now. Empty: the end stays as it is. An expired environment needs a new one."
          inputMode="numeric"
          {...form.getInputProps('hours')}
        />
      )}
      {kind === 'deploy' && <ApprovalField {...props} />}
    </>
  );
}
