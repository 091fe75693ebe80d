/** Properties of a variable apart from its value: kind, format, rules, description. */
import { Checkbox, Group, SegmentedControl, Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { VariableFormat } from '#contract/schema/enumerations.ts';
import type { VariableFormRow } from './rows.ts';
import classes from './variables.module.css';

const formats = [
  { value: 'text', label: 'Text' },
  { value: 'HCL', label: 'HCL' },
  { value: 'JSON', label: 'JSON' },
  { value: 'ENVIRONMENT_OUTPUT', label: 'Output of another environment' },
];

const flags = [
  ['isSensitive', 'Sensitive: write-only, and hidden in logs'],
  ['isRequired', 'Required: deployments require a value'],
  ['isReadonly', 'Read-only: inner places cannot override it'],
] as const;

interface RulesProps {
  readonly row: VariableFormRow;
  readonly set: (changes: Partial<VariableFormRow>) => void;
}

function Rules({ row, set }: RulesProps) {
  return (
    <div className={classes.settingsGrid}>
      <Select
        label="Format"
        size="xs"
        allowDeselect={false}
        data={formats}
        value={row.format ?? 'text'}
        onChange={(format) => set({ format: format === 'text' ? undefined : (format as VariableFormat) })}
      />
      <TagsInput
        label="Allowed values"
        size="xs"
        placeholder={row.choices.length === 0 ? 'any; Enter adds one' : ''}
        value={[...row.choices]}
        onChange={(choices) => set({ choices })}
      />
      <TextInput
        label="Must match"
        size="xs"
        placeholder="regular expression"
        spellCheck={false}
        value={row.regex}
        onChange={({ currentTarget }) => set({ regex: currentTarget.value })}
      />
    </div>
  );
}

export interface VariableSettingsProps {
  readonly row: VariableFormRow;
  readonly onChange: (row: VariableFormRow) => void;
  readonly isDisabled: boolean;
}

export function VariableSettings({ row, onChange, isDisabled }: VariableSettingsProps) {
  const set = (changes: Partial<VariableFormRow>) => onChange({ ...row, ...changes });
  return (
    <fieldset className={classes.settings} disabled={isDisabled}>
      <legend className="visually-hidden">Settings of {row.name || 'the new variable'}</legend>
      {row.before === undefined && (
        <SegmentedControl
          size="xs"
          aria-label="Kind"
          value={String(row.type)}
          data={[
            { value: '1', label: 'Variable of the code' },
            { value: '0', label: 'Environment variable' },
          ]}
          onChange={(type) => set({ type: type === '0' ? 0 : 1 })}
        />
      )}
      <Rules row={row} set={set} />
      <Textarea
        label="Description"
        size="xs"
        autosize
        maxLength={255}
        value={row.description}
        onChange={({ currentTarget }) => set({ description: currentTarget.value })}
      />
      <Group>
        {flags.map(([name, label]) => (
          <Checkbox
            key={name}
            size="xs"
            label={label}
            checked={row[name]}
            onChange={({ currentTarget }) => set({ [name]: currentTarget.checked })}
          />
        ))}
      </Group>
    </fieldset>
  );
}
