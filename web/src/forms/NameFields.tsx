/** The name and the description of what people create. */
import { Textarea, TextInput, type TextInputProps } from '@mantine/core';

export function NameField(props: TextInputProps) {
  return <TextInput label="Name" required autoComplete="off" {...props} />;
}

export interface NameValues {
  readonly name: string;
  readonly description: string;
}

export interface NameFieldsProps {
  readonly values: NameValues;
  readonly errors: Readonly<Partial<Record<keyof NameValues, string>>>;
  readonly onChange: (changes: Partial<NameValues>) => void;
}

/** A name whose values are not in a form of the library. */
export function NameInput({
  values,
  errors,
  onChange,
  ...props
}: NameFieldsProps & Pick<TextInputProps, 'description'> & { readonly 'data-autofocus'?: boolean }) {
  return (
    <NameField
      maxLength={300}
      value={values.name}
      onChange={(event) => onChange({ name: event.currentTarget.value })}
      error={errors.name}
      {...props}
    />
  );
}

export function DescriptionInput({ values, errors, onChange }: NameFieldsProps) {
  return (
    <Textarea
      label="Description"
      autosize
      maxRows={8}
      maxLength={4000}
      value={values.description}
      onChange={(event) => onChange({ description: event.currentTarget.value })}
      error={errors.description}
    />
  );
}
