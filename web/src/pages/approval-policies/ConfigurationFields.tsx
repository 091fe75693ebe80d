/** The configuration of a policy as fields, from the schema that the policy has. */
import { MultiSelect, NumberInput, Select, Switch, TagsInput } from '@mantine/core';
import type { CataloguePolicy } from '#contract/flows/catalogue.ts';
import { Section, Wide } from '../../forms/Section.tsx';
import type { Configuration, PolicyErrors } from './policy-values.ts';

interface Property {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly items?: Property;
}

interface FieldProps {
  readonly name: string;
  readonly property: Property;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly onChange: (value: unknown) => void;
}

/** A list without anything in it is left to the policy. */
const listOrNothing = (list: readonly unknown[]) => (list.length === 0 ? undefined : list);

function defaultText({ default: otherwise }: Property): string {
  if (otherwise === undefined || otherwise === false) return '';
  const text = Array.isArray(otherwise)
    ? otherwise.join(', ')
    : JSON.stringify(otherwise).replaceAll('"', '');
  return text === '' ? '' : `Otherwise ${text}`;
}

function ListField({ property, value, onChange, ...props }: FieldProps & { readonly label: string }) {
  const { label, error } = props;
  const { items = {}, description } = property;
  const given = (Array.isArray(value) ? value : []).map(String);
  const common = { label, description, error, placeholder: given.length === 0 ? defaultText(property) : '' };
  if (items.enum)
    return (
      <MultiSelect
        {...common}
        data={[...items.enum]}
        value={given}
        onChange={(next) => onChange(listOrNothing(next))}
      />
    );
  const isWhole = items.type === 'integer';
  return (
    <TagsInput
      {...common}
      value={given}
      onChange={(next) => onChange(listOrNothing(isWhole ? next.map(Number).filter(Number.isInteger) : next))}
    />
  );
}

function Field(props: FieldProps) {
  const { name, property, isRequired, value, error, onChange } = props;
  const { type, title: label = name, description } = property;
  if (type === 'boolean')
    return (
      <Switch
        label={label}
        description={description}
        checked={value === undefined ? property.default === true : value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
        error={error}
      />
    );
  if (type === 'array') return <ListField {...props} label={label} />;
  const common = { label, description, error, required: isRequired, placeholder: defaultText(property) };
  if (property.enum)
    return (
      <Select
        {...common}
        data={[...property.enum]}
        value={typeof value === 'string' ? value : null}
        onChange={(next) => onChange(next ?? undefined)}
        clearable
      />
    );
  return (
    <NumberInput
      {...common}
      {...(property.minimum === undefined ? {} : { min: property.minimum })}
      {...(property.maximum === undefined ? {} : { max: property.maximum })}
      allowDecimal={type === 'number'}
      value={typeof value === 'number' ? value : ''}
      onChange={(next) => onChange(next === '' ? undefined : Number(next))}
    />
  );
}

export interface ConfigurationFieldsProps {
  readonly policy: CataloguePolicy;
  readonly values: Configuration;
  readonly errors: PolicyErrors;
  readonly onChange: (values: Configuration) => void;
}

export function ConfigurationFields({ policy, values, errors, onChange }: ConfigurationFieldsProps) {
  const { properties = {}, required = [] } = (policy.configurationSchema ?? {}) as {
    readonly properties?: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
  if (Object.keys(properties).length === 0) return null;
  return (
    <Section title="Configuration" hint="What is left empty keeps the policy's default.">
      {Object.entries(properties).map(([name, property]) => (
        <Wide key={name}>
          <Field
            name={name}
            property={property}
            isRequired={required.includes(name)}
            value={values[name]}
            error={errors[`configuration.${name}`]}
            onChange={(value) => onChange({ ...values, [name]: value })}
          />
        </Wide>
      ))}
    </Section>
  );
}
