/** The fields of a custom role. */
import { Checkbox, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import type { Right } from '#contract/schema/rights.ts';
import { RightsField } from './RightsField.tsx';

export interface RoleValues extends Record<string, unknown> {
  name: string;
  permissions: Right[];
  isDefaultRole: boolean;
}

/** The form of a role, with what it begins with. */
export function useRoleForm(initialValues: RoleValues): UseFormReturnType<RoleValues> {
  return useForm<RoleValues>({
    initialValues,
    validate: { name: (name) => (name.trim() === '' ? 'A name is needed.' : null) },
  });
}

export function RoleFields({ form }: { readonly form: UseFormReturnType<RoleValues> }) {
  return (
    <>
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <Checkbox
        label="Default role"
        description="New members get it unless another role is chosen. It replaces the current default role."
        {...form.getInputProps('isDefaultRole', { type: 'checkbox' })}
      />
      <RightsField
        value={form.values.permissions}
        error={form.errors.permissions as string | undefined}
        onChange={(permissions) => form.setFieldValue('permissions', permissions)}
      />
    </>
  );
}
