/** The configuration of a policy: fields where its schema is known, and JSON for everything. */
import { JsonInput } from '@mantine/core';
import { Section, Wide } from '../../forms/Section.tsx';
import { Segments } from '../../forms/Segments.tsx';
import { ConfigurationFields } from './ConfigurationFields.tsx';
import { type ApprovalPolicyValues, objectOf, type PolicyErrors } from './policy-values.ts';
import type { PolicySchema } from './use-policy-schema.ts';

type ConfigurationValues = Pick<ApprovalPolicyValues, 'configurationText' | 'isJson'>;

export interface ConfigurationSectionProps {
  readonly known: PolicySchema;
  readonly values: ConfigurationValues;
  readonly errors: PolicyErrors;
  readonly onChange: (changes: Partial<ConfigurationValues>) => void;
}

const forms = [
  { value: 'fields', label: 'Fields' },
  { value: 'json', label: 'JSON' },
] as const;

export function ConfigurationSection({ known, values, errors, onChange }: ConfigurationSectionProps) {
  const { schema, hasFields } = known;
  const configuration = objectOf(values.configurationText);
  const isJson = !hasFields || values.isJson || configuration === undefined;
  const hint = isJson
    ? 'What the policy reads as input.policyConfiguration.'
    : "What is left empty keeps the policy's default.";
  return (
    <Section title="Configuration" hint={hint}>
      {hasFields && (
        <Wide>
          <Segments
            label="How it is edited"
            data={forms}
            value={isJson ? 'json' : 'fields'}
            disabled={configuration === undefined}
            onChange={(form) => onChange({ isJson: form === 'json' })}
          />
        </Wide>
      )}
      {isJson ? (
        <Wide>
          <JsonInput
            label="JSON object"
            autosize
            minRows={3}
            maxRows={20}
            value={values.configurationText}
            onChange={(configurationText) => onChange({ configurationText, isJson: true })}
            error={errors.configurationText}
            spellCheck={false}
          />
        </Wide>
      ) : (
        <ConfigurationFields
          schema={schema}
          values={configuration}
          errors={errors}
          onChange={(next) => onChange({ configurationText: textOfObject(next) })}
        />
      )}
    </Section>
  );
}

/** As it is shown; nothing set is an empty text. */
function textOfObject(configuration: object): string {
  const text = JSON.stringify(configuration, null, 2);
  return text === '{}' ? '' : text;
}
