/** The field for the value of one variable, as its definition wants it. */
import { Button, Code, Group, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { fieldKindOf, valueProblem } from './checks.ts';
import { mask, type VariableFormRow } from './rows.ts';
import classes from './variables.module.css';

export interface VariableValueProps {
  readonly row: VariableFormRow;
  readonly onChange: (row: VariableFormRow) => void;
  readonly isDisabled: boolean;
  /** Message of the service about it. */
  readonly error?: string | undefined;
  /** Whether problems are shown before anything was typed. */
  readonly isStrict?: boolean;
}

interface VariableFieldProps {
  readonly 'aria-label': string;
  readonly value: string;
  readonly disabled: boolean;
  readonly error: string | undefined;
  readonly onValue: (value: string) => void;
}

/** Stored secrets stay hidden; typing replaces them, and an emptied field keeps the stored value. */
function SensitiveValue({
  row,
  field,
}: {
  readonly row: VariableFormRow;
  readonly field: VariableFieldProps;
}) {
  const { onValue, value, ...props } = field;
  const wasHidden = row.before?.value === mask;
  return (
    <PasswordInput
      {...props}
      size="xs"
      autoComplete="off"
      value={value === mask ? '' : value}
      placeholder={wasHidden ? 'Stored and hidden. Type to replace it.' : 'Hidden after it was saved'}
      onChange={({ currentTarget }) =>
        onValue(currentTarget.value === '' && wasHidden ? mask : currentTarget.value)
      }
    />
  );
}

function LongValue({ field, language }: { readonly field: VariableFieldProps; readonly language?: string }) {
  const { onValue, ...props } = field;
  return (
    <Textarea
      {...props}
      size="xs"
      autosize
      minRows={1}
      maxRows={16}
      spellCheck={false}
      classNames={{ input: classes.code! }}
      {...(language
        ? { leftSection: <span className={classes.language}>{language}</span>, leftSectionWidth: 46 }
        : {})}
      onChange={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}

interface VariableChoiceProps {
  readonly row: VariableFormRow;
  readonly field: VariableFieldProps;
  readonly choices: readonly string[];
}

function ChoiceValue({ row, field, choices }: VariableChoiceProps) {
  const { onValue, value, ...props } = field;
  const isKnown = value === '' || choices.includes(value);
  return (
    <Select
      {...props}
      size="xs"
      data={[...new Set(isKnown ? choices : [...choices, value])]}
      value={value === '' ? null : value}
      searchable={choices.length > 8}
      clearable={!row.isRequired}
      placeholder="Choose …"
      onChange={(next) => onValue(next ?? '')}
    />
  );
}

function SwitchValue({
  row,
  field,
  onText,
}: {
  readonly row: VariableFormRow;
  readonly field: VariableFieldProps;
  readonly onText: () => void;
}) {
  const { onValue, value, error: _, ...props } = field;
  return (
    <Group gap="xs">
      <Switch
        {...props}
        label={<Code>{value}</Code>}
        checked={value === 'true'}
        onChange={({ currentTarget }) => onValue(String(currentTarget.checked))}
      />
      <Button
        size="compact-xs"
        variant="subtle"
        disabled={props.disabled}
        onClick={onText}
        aria-label={`Enter ${row.name} as text`}
      >
        as text
      </Button>
    </Group>
  );
}

export function VariableValue({ row, onChange, isDisabled, error, isStrict = false }: VariableValueProps) {
  const isTouched =
    isStrict || row.value !== (row.before?.value ?? '') || row.isSensitive !== row.before?.isSensitive;
  const field: VariableFieldProps = {
    'aria-label': `Value of ${row.name || 'the new variable'}`,
    value: row.value,
    disabled: isDisabled,
    error: error ?? (isTouched ? valueProblem(row) : undefined),
    onValue: (value) => onChange({ ...row, value }),
  };
  const kind = fieldKindOf(row);
  if (kind === 'sensitive') return <SensitiveValue row={row} field={field} />;
  if (kind === 'choice') return <ChoiceValue row={row} field={field} choices={row.choices} />;
  if (kind === 'flag') return <ChoiceValue row={row} field={field} choices={['true', 'false']} />;
  if (kind === 'switch')
    return <SwitchValue row={row} field={field} onText={() => onChange({ ...row, isText: true })} />;
  if (kind === 'json' || kind === 'hcl') return <LongValue field={field} language={kind.toUpperCase()} />;
  if (kind === 'output') return <LongValue field={field} language="Ref" />;
  if (kind === 'composite' || row.value.includes('\n') || row.value.length > 60)
    return <LongValue field={field} />;
  const { onValue, ...props } = field;
  return (
    <TextInput
      {...props}
      size="xs"
      autoComplete="off"
      spellCheck={false}
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      onChange={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}
