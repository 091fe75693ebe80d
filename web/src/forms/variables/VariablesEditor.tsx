/**
 * A list of variables that people fill: each with the field that its definition wants, its rules, and where its
 * value is from. The caller keeps the rows (`rows.ts`) and sends their changes.
 */
import { Button, Group, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { randomId } from '../../api/random-id.ts';
import { isChanged, newRow, type VariableFormRow } from './rows.ts';
import { VariableRowView } from './VariableRowView.tsx';
import classes from './variables.module.css';

export interface VariablesEditorProps {
  /** Label of the list, for people who cannot see it. */
  readonly label: string;
  readonly rows: readonly VariableFormRow[];
  readonly onChange: (rows: readonly VariableFormRow[]) => void;
  /** Refusals of the service by the key of their row. */
  readonly errors?: Readonly<Record<string, string | undefined>>;
  /** Why nothing can be changed, as a sentence; undefined: it can. */
  readonly whyNot?: string | undefined;
  /** Whether problems show before anything was typed: after the first attempt to send. */
  readonly isStrict?: boolean;
  /** Shows where values are from, and what they hide. */
  readonly showsOrigin?: boolean;
  /** A better word for where a row is from, such as the name of its project. */
  readonly originOf?: (row: VariableFormRow) => ReactNode;
  /** Whether variables that the list does not have can be added; default true. */
  readonly canAdd?: boolean;
}

const filterFrom = 8;

function matches(row: VariableFormRow, search: string): boolean {
  const text = search.toLowerCase();
  return (
    row.before === undefined ||
    isChanged(row) ||
    row.name.toLowerCase().includes(text) ||
    row.description.toLowerCase().includes(text)
  );
}

export function VariablesEditor(props: VariablesEditorProps) {
  const {
    label,
    rows,
    onChange,
    errors = {},
    whyNot,
    isStrict = false,
    showsOrigin = false,
    originOf,
  } = props;
  const [search, setSearch] = useState('');
  const shown = search === '' ? rows : rows.filter((row) => matches(row, search));
  const replace = (next: VariableFormRow) => onChange(rows.map((row) => (row.key === next.key ? next : row)));
  return (
    <div>
      {rows.length > filterFrom && (
        <TextInput
          size="xs"
          mb="xs"
          w={260}
          type="search"
          placeholder="Find a variable"
          aria-label="Find a variable"
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      {shown.length > 0 && (
        <ul className={classes.list} aria-label={label}>
          {shown.map((row) => (
            <VariableRowView
              key={row.key}
              row={row}
              rows={rows}
              onChange={replace}
              onRemove={() => onChange(rows.filter(({ key }) => key !== row.key))}
              error={errors[row.key]}
              {...{ whyNot, isStrict, showsOrigin, originOf }}
            />
          ))}
        </ul>
      )}
      {search !== '' && shown.length === 0 && (
        <p className={classes.none}>No variable has “{search}” in it.</p>
      )}
      {(props.canAdd ?? true) && whyNot === undefined && (
        <Group mt="xs" gap="xs">
          <Button size="xs" variant="default" onClick={() => onChange([...rows, newRow(randomId())])}>
            Add a variable
          </Button>
        </Group>
      )}
    </div>
  );
}
