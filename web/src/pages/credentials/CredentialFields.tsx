/** The fields of a cloud credential, by its kind. */
import { PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type CredentialType, tokenFormats, type ValueField } from '#contract/credentials/kinds.ts';
import { fieldsOf, fieldTexts, kindChoices, type TypedValue } from './credential-kinds.ts';

export interface CredentialValues extends Record<string, unknown> {
  name: string;
  type: CredentialType;
  projectId: string;
  value: TypedValue;
}

type CredentialForm = UseFormReturnType<CredentialValues>;

interface CredentialFieldProps {
  readonly form: CredentialForm;
  readonly field: ValueField;
  readonly isRequired: boolean;
}

function Field({ form, field, isRequired }: CredentialFieldProps) {
  const { label, hint, isDocument, isSecret } = fieldTexts[field];
  const props = {
    label,
    ...(hint === undefined ? {} : { description: hint }),
    required: isRequired,
    autoComplete: 'off',
    spellCheck: false,
    ...form.getInputProps(`value.${field}`),
    value: form.values.value[field] ?? '',
  };
  if (field === 'tokenFormat')
    return (
      <Select {...props} data={[...tokenFormats]} placeholder="v1" value={props.value || null} clearable />
    );
  if (isDocument)
    return (
      <Textarea
        {...props}
        autosize
        minRows={4}
        maxRows={12}
        styles={{ input: { fontFamily: 'var(--e-mono)', fontSize: 'var(--e-text-sm)' } }}
      />
    );
  if (isSecret) return <PasswordInput {...props} autoComplete="new-password" />;
  return <TextInput {...props} />;
}

/** The fields of the chosen kind. What was typed for another kind is kept until the form is sent. */
export function ValueFields({ form }: { readonly form: CredentialForm }) {
  return fieldsOf(form.values.type).map(({ field, isRequired }) => (
    <Field key={field} form={form} field={field} isRequired={isRequired} />
  ));
}

export function KindSelect({ form }: { readonly form: CredentialForm }) {
  return (
    <Select
      label="Kind"
      data={kindChoices()}
      allowDeselect={false}
      searchable
      maxDropdownHeight={320}
      {...form.getInputProps('type')}
    />
  );
}
