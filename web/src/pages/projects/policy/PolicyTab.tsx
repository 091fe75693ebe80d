/** The policy of a project: what new environments get, and what is allowed. */
import { Button, Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Policy } from '#contract/policies/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { fieldOf, fieldText } from '../../../api/errors.ts';
import { type Tagged, useChange, useTagged } from '../../../api/queries.ts';
import { useRights } from '../../../api/rights.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { Overtaken } from '../../../forms/Overtaken.tsx';
import { useWrongField } from '../../../forms/problems.ts';
import { FormFoot, Section, Wide } from '../../../forms/Section.tsx';
import { useEditing } from '../../../forms/use-editing.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { showDone } from '../../../ui/messages.ts';
import {
  type FlagField,
  flagFields,
  policyBody,
  policyErrors,
  type PolicyValues,
  policyValues,
  remediations,
  ttlOptions,
} from './policy-fields.ts';

interface FieldsProps {
  readonly values: PolicyValues;
  readonly errors: Readonly<Record<string, string>>;
  readonly isDisabled: boolean;
  readonly onChange: (changes: Partial<PolicyValues>) => void;
}

function Flag({ field, values, isDisabled, onChange }: FieldsProps & { readonly field: FlagField }) {
  const { name, label, meaning, without } = field;
  return (
    <Wide>
      <Switch
        label={label}
        description={without === undefined ? meaning : `${meaning} Until then: ${without}.`}
        checked={values.flags[name]}
        disabled={isDisabled}
        onChange={(event) => onChange({ flags: { ...values.flags, [name]: event.currentTarget.checked } })}
      />
    </Wide>
  );
}

const limits = [
  ['numberOfEnvironments', 'Environments of one person'],
  ['numberOfEnvironmentsTotal', 'Environments of the project'],
] as const;

const lifetimes = [
  ['defaultTtl', 'Lifetime without another one'],
  ['maxTtl', 'Longest lifetime'],
] as const;

function Limits({ values, errors, isDisabled, onChange }: FieldsProps) {
  return (
    <Section
      title="Limits"
      hint="Stored, without effect yet: the number of environments is not limited, and lifetimes follow the policies of the organization."
    >
      {limits.map(([name, label]) => (
        <TextInput
          key={name}
          label={label}
          description="Empty: no limit"
          inputMode="numeric"
          value={values[name]}
          disabled={isDisabled}
          onChange={(event) => onChange({ [name]: event.currentTarget.value })}
          error={errors[name]}
        />
      ))}
      {lifetimes.map(([name, label]) => (
        <Select
          key={name}
          label={label}
          data={ttlOptions(values[name])}
          value={values[name]}
          disabled={isDisabled}
          allowDeselect={false}
          onChange={(value) => onChange({ [name]: value ?? '' })}
          error={errors[name]}
        />
      ))}
    </Section>
  );
}

function Drift({ values, errors, isDisabled, onChange }: FieldsProps) {
  return (
    <Section title="Drift" hint="Stored, without effect yet: environments have schedules of their own.">
      <TextInput
        label="When it is checked"
        description="A cron expression with five fields, in UTC"
        placeholder="0 */6 * * *"
        value={values.driftDetectionCron}
        disabled={isDisabled}
        onChange={(event) => onChange({ driftDetectionCron: event.currentTarget.value })}
        error={errors.driftDetectionCron}
      />
      <Select
        label="What happens then"
        data={Object.entries(remediations).map(([value, label]) => ({ value, label }))}
        value={values.autoDriftRemediation}
        disabled={isDisabled}
        allowDeselect={false}
        onChange={(value) =>
          value !== null && onChange({ autoDriftRemediation: value as keyof typeof remediations })
        }
        error={errors.autoDriftRemediation}
      />
    </Section>
  );
}

interface FormProps {
  readonly project: Project;
  readonly read: Tagged<Policy>;
  readonly refetch: () => Promise<unknown>;
}

function usePolicyForm({ project, read, refetch }: FormProps) {
  const editing = useEditing(read, policyValues, refetch);
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<unknown>();
  useWrongField(errors);
  const save = useChange('updatePolicy', {
    refreshes: ['getPolicy'],
    onSuccess: () => {
      editing.reset();
      showDone('The policy was saved');
    },
    onError: (error) => {
      if (editing.onRefused(error)) return true;
      const field = fieldOf(error);
      if (field === undefined) setFailure(error);
      else setErrors({ [field]: fieldText(error) });
      return true;
    },
  });
  const submit = () => {
    const wrong = policyErrors(editing.values);
    setErrors(wrong);
    setFailure(undefined);
    if (Object.keys(wrong).length > 0) return;
    save.mutate({
      body: policyBody(project.id, editing.values),
      ...(editing.etag === undefined ? {} : { ifMatch: editing.etag }),
    });
  };
  return { editing, errors, failure, isBusy: save.isPending, submit };
}

function PolicyForm(props: FormProps) {
  const rights = useRights({ projectId: props.project.id });
  const { editing, errors, failure, isBusy, submit } = usePolicyForm(props);
  const whyNot = rights.whyNot('EDIT_PROJECT_SETTINGS');
  const fields = {
    values: editing.values,
    errors,
    isDisabled: whyNot !== undefined,
    onChange: editing.change,
  };
  const flags = (isInEffect: boolean) =>
    flagFields
      .filter(({ without }) => (without === undefined) === isInEffect)
      .map((field) => <Flag key={field.name} field={field} {...fields} />);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {editing.isOvertaken && <Overtaken what="this policy" onReset={editing.reset} />}
      <FormAlert mb="md" error={failure} />
      <Section title="Outputs">{flags(true)}</Section>
      <Section title="Runs" hint="Stored, without effect yet: each says what happens until it has one.">
        {flags(false)}
      </Section>
      <Limits {...fields} />
      <Drift {...fields} />
      <FormFoot>
        <ActionButton
          type="submit"
          whyNot={whyNot ?? (editing.isTouched ? undefined : 'Nothing was changed.')}
          loading={isBusy}
        >
          Save
        </ActionButton>
        {editing.isTouched && (
          <Button variant="default" onClick={editing.reset}>
            Undo
          </Button>
        )}
      </FormFoot>
    </form>
  );
}

export default function PolicyTab({ project }: { readonly project: Project }) {
  const policy = useTagged('getPolicy', { query: { projectId: project.id } });
  return (
    <Loaded query={policy}>
      {(read) => <PolicyForm project={project} read={read} refetch={policy.refetch} />}
    </Loaded>
  );
}
