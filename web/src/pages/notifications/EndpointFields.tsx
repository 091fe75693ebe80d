/** The fields of a notification endpoint, which depend on its type. */
import { Checkbox, PasswordInput, Select, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type EndpointType, endpointTypes } from '#contract/notifications/events.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { typeWords } from './looks.ts';

export interface EndpointValues extends Record<string, unknown> {
  name: string;
  type: EndpointType;
  value: string;
  webhookSecret: string;
  isSecretRemoved: boolean;
}

export const newEndpoint: EndpointValues = {
  name: '',
  type: 'Slack',
  value: '',
  webhookSecret: '',
  isSecretRemoved: false,
};

export const validate = {
  name: validateName,
  value: (value: string, { type }: EndpointValues) => {
    if (value.trim() === '') return `${typeWords[type].valueLabel}: this is required.`;
    return type === 'Email' || URL.canParse(value) ? null : 'A complete address is required, with https://.';
  },
};

/** The secret as the service takes it: undefined keeps the one that is there, null removes it. */
function secretOf({ type, webhookSecret, isSecretRemoved }: EndpointValues): string | null | undefined {
  if (type !== 'Webhook') return undefined;
  if (isSecretRemoved) return null;
  return webhookSecret === '' ? undefined : webhookSecret;
}

/** The values as a request has them. */
export function bodyOf(values: EndpointValues) {
  const { name, type, value } = values;
  const webhookSecret = secretOf(values);
  return { name, type, value, ...(webhookSecret === undefined ? {} : { webhookSecret }) };
}

export interface EndpointFieldsProps {
  readonly form: UseFormReturnType<EndpointValues>;
  /** Whether a secret is stored already. */
  readonly hasSecret?: boolean;
}

function SecretFields({ form, hasSecret = false }: EndpointFieldsProps) {
  return (
    <>
      <PasswordInput
        label="Secret"
        description={
          hasSecret
            ? 'One is stored. Leave this empty to keep it.'
            : 'Signs every message, so that the receiver knows where it comes from.'
        }
        autoComplete="new-password"
        disabled={form.values.isSecretRemoved}
        {...form.getInputProps('webhookSecret')}
      />
      {hasSecret && (
        <Checkbox
          label="Remove the secret: messages are no longer signed"
          {...form.getInputProps('isSecretRemoved', { type: 'checkbox' })}
        />
      )}
    </>
  );
}

export function EndpointFields({ form, hasSecret = false }: EndpointFieldsProps) {
  const words = typeWords[form.values.type];
  return (
    <>
      <NameField data-autofocus {...form.getInputProps('name')} />
      <Select
        label="Type"
        allowDeselect={false}
        data={endpointTypes.map((value) => ({ value, label: typeWords[value].label }))}
        {...form.getInputProps('type')}
        onChange={(type) => {
          form.clearFieldError('value');
          form.setFieldValue('type', type ?? 'Slack');
        }}
      />
      <TextInput
        label={words.valueLabel}
        required
        autoComplete="off"
        description={words.description}
        placeholder={words.placeholder}
        {...form.getInputProps('value')}
      />
      {form.values.type === 'Webhook' && <SecretFields form={form} hasSecret={hasSecret} />}
    </>
  );
}
