/** The fields that say how often failed runs are repeated. */
import { NumberInput, TextInput } from '@mantine/core';
import { Section } from '../Section.tsx';
import type { RetryValues } from './retry-values.ts';

interface RetryFieldsProps {
  readonly label: string;
  readonly value: RetryValues;
  readonly onChange: (value: RetryValues) => void;
  readonly error: string | undefined;
}

function RetryFields({ label, value, onChange, error }: RetryFieldsProps) {
  return (
    <>
      <NumberInput
        label={`${label}: how often`}
        description="0 to 3"
        min={0}
        max={3}
        allowDecimal={false}
        value={value.times}
        onChange={(times) => onChange({ ...value, times: Number(times) || 0 })}
        error={error}
      />
      <TextInput
        label={`${label}: only if the error matches`}
        description="Regular expression; empty: always"
        disabled={value.times === 0}
        spellCheck={false}
        value={value.errorRegex}
        onChange={(event) => onChange({ ...value, errorRegex: event.currentTarget.value })}
      />
    </>
  );
}

export interface RetrySectionProps {
  readonly values: { readonly onDeploy: RetryValues; readonly onDestroy: RetryValues };
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (changes: { onDeploy?: RetryValues; onDestroy?: RetryValues }) => void;
}

export function RetrySection({ values, errors, onChange }: RetrySectionProps) {
  return (
    <Section title="Retries" hint="A failed apply is repeated in the same deployment, with a new plan.">
      <RetryFields
        label="Deploys"
        value={values.onDeploy}
        onChange={(onDeploy) => onChange({ onDeploy })}
        error={errors.onDeploy}
      />
      <RetryFields
        label="Destroys"
        value={values.onDestroy}
        onChange={(onDestroy) => onChange({ onDestroy })}
        error={errors.onDestroy}
      />
    </Section>
  );
}
