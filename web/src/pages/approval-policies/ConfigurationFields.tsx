/** The configuration of a policy as fields, from the schema that the policy has. */

import { MultiSelect, NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core';
import { Wide } from '../../forms/Section.tsx';
import records from '../../records/records.module.css';
import { type ConfigurationField, configurationFields } from './configuration-schema.ts';
import type { PolicyConfiguration, PolicyErrors } from './policy-values.ts';

interface ConfigurationFieldProps {
  readonly field: ConfigurationField;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly onChange: (value: unknown) => void;
}

/** A list without anything in it is left to the policy. */
const listOrNothing = (list: readonly unknown[]) => (list.length === 0 ? undefined : list);
/** Text that is not a number stays as it was typed, so that its error can say so. */
const numberOrText = (text: string) => (Number.isInteger(Number(text)) ? Number(text) : text);

/** Common properties of all fields. */
function commonOf({ field, error }: ConfigurationFieldProps, isEmpty: boolean) {
  const { label, description, isRequired, otherwise } = field;
  return {
    ...{ label, description, error, required: isRequired },
    placeholder: isEmpty && otherwise !== '' ? `Otherwise ${otherwise}` : '',
  };
}

function ListField(props: ConfigurationFieldProps) {
  const { field, value, onChange } = props;
  const texts = (Array.isArray(value) ? value : []).map(String);
  const common = commonOf(props, texts.length === 0);
  if (field.kind === 'choices')
    return (
      <MultiSelect
        {...common}
        data={[...field.choices]}
        value={texts}
        onChange={(next) => onChange(listOrNothing(next))}
      />
    );
  return (
    <TagsInput
      {...common}
      value={texts}
      onChange={(next) => onChange(listOrNothing(field.kind === 'wholes' ? next.map(numberOrText) : next))}
    />
  );
}

function NumberField(props: ConfigurationFieldProps) {
  const { field, value, onChange } = props;
  return (
    <NumberInput
      {...commonOf(props, true)}
      clampBehavior="none"
      allowDecimal={field.kind === 'number'}
      value={typeof value === 'number' || typeof value === 'string' ? value : ''}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  );
}

function Field(props: ConfigurationFieldProps) {
  const { field, value, error, onChange } = props;
  const { label, description } = field;
  switch (field.kind) {
    case 'switch':
      return (
        <Switch
          {...{ label, description, error }}
          checked={value === undefined ? field.isOnByDefault : value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'choice':
      return (
        <Select
          {...commonOf(props, true)}
          data={[...field.choices]}
          value={typeof value === 'string' ? value : null}
          onChange={(next) => onChange(next ?? undefined)}
          clearable
        />
      );
    case 'text':
      return (
        <TextInput
          {...commonOf(props, true)}
          value={typeof value === 'string' ? value : ''}
          onChange={({ currentTarget: { value: next } }) => onChange(next === '' ? undefined : next)}
        />
      );
    case 'number':
    case 'whole':
      return <NumberField {...props} />;
    case 'other':
      return null;
    default:
      return <ListField {...props} />;
  }
}

export interface ConfigurationFieldsProps {
  readonly schema: unknown;
  readonly values: PolicyConfiguration;
  /** By `configuration.<name>`. */
  readonly errors: PolicyErrors;
  readonly onChange: (values: PolicyConfiguration) => void;
}

export function ConfigurationFields({ schema, values, errors, onChange }: ConfigurationFieldsProps) {
  const fields = configurationFields(schema);
  const others = fields.filter(({ kind }) => kind === 'other');
  return (
    <>
      {fields
        .filter((field) => !others.includes(field))
        .map((field) => (
          <Wide key={field.name}>
            <Field
              field={field}
              value={values[field.name]}
              error={errors[`configuration.${field.name}`]}
              onChange={(value) => onChange({ ...values, [field.name]: value })}
            />
          </Wide>
        ))}
      {others.length > 0 && (
        <Wide>
          <span className={records.faint}>Only as JSON:</span>{' '}
          <bdi className={records.faint}>{others.map(({ label }) => label).join(', ')}</bdi>
        </Wide>
      )}
    </>
  );
}
