/** The fields of a custom role. */
import { Checkbox } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Right } from '#contract/schema/rights.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { RightsField } from './RightsField.tsx';

export interface RoleValues extends Record<string, unknown> {
  name: string;
  permissions: Right[];
  isDefaultRole: boolean;
}

export function RoleFields({ form }: { readonly form: UseFormReturnType<RoleValues> }) {
  return (
    <>
      <NameField data-autofocus {...form.getInputProps('name')} />
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
