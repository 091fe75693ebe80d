/** One variable in the editor. */
import { Badge, Button, TextInput, Tooltip } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { nameProblem } from './checks.ts';
import { originWord } from './origin.ts';
import { isChanged, undone, type VariableFormRow } from './rows.ts';
import { VariableSettings } from './VariableSettings.tsx';
import { VariableValue } from './VariableValue.tsx';
import classes from './variables.module.css';

export interface VariableRowViewProps {
  readonly row: VariableFormRow;
  readonly rows: readonly VariableFormRow[];
  readonly onChange: (row: VariableFormRow) => void;
  /** Takes a new row out of the list again. */
  readonly onRemove: () => void;
  readonly error: string | undefined;
  readonly whyNot: string | undefined;
  readonly isStrict: boolean;
  readonly showsOrigin: boolean;
  readonly originOf: ((row: VariableFormRow) => ReactNode) | undefined;
}

const marks = [
  ['isRequired', 'required', 'Deployments require a value'],
  ['isReadonly', 'read-only', 'Inner places cannot override it'],
  ['isSensitive', 'sensitive', 'Write-only; hidden in logs'],
] as const;

function Marks({ row }: { readonly row: VariableFormRow }) {
  const shown = marks.filter(([field]) => row[field]);
  if (shown.length === 0) return null;
  return (
    <span className={classes.marks}>
      {shown.map(([field, word, text]) => (
        <Tooltip key={field} label={text}>
          <Badge size="xs" variant="default">
            {word}
          </Badge>
        </Tooltip>
      ))}
    </span>
  );
}

function NameCell({ row, rows, onChange, isStrict }: VariableRowViewProps) {
  if (row.before === undefined)
    return (
      <TextInput
        aria-label="Name of the new variable"
        size="xs"
        placeholder="name"
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        value={row.name}
        error={row.name !== '' || isStrict ? nameProblem(row, rows) : undefined}
        onChange={({ currentTarget }) => onChange({ ...row, name: currentTarget.value })}
      />
    );
  return (
    <>
      <code className={classes.name}>
        <bdi>{row.name}</bdi>
      </code>
      {row.type === 0 && <span className={classes.kind}>environment variable</span>}
      {row.valueType !== undefined && <span className={classes.kind}>{row.valueType}</span>}
      <Marks row={row} />
      {row.description !== '' && (
        <p className={classes.description} dir="auto">
          {row.description}
        </p>
      )}
      {row.rules?.map((rule) => (
        <p key={rule} className={classes.description} dir="auto">
          {rule}
        </p>
      ))}
    </>
  );
}

/** Stored version that a save would replace. */
function Overtaken({ row }: Pick<VariableRowViewProps, 'row'>) {
  if (!row.isOvertaken) return null;
  const theirs = row.before?.value ?? '';
  return (
    <p className={classes.overtaken} role="status">
      Someone else has changed it in the meantime
      {theirs === '' || row.isSensitive ? (
        ''
      ) : (
        <>
          : the value is now <code>{theirs}</code>
        </>
      )}
      . A save replaces that; Undo keeps it.
    </p>
  );
}

/** Origin of the value, and what it hides. */
function Origin({ row, originOf }: Pick<VariableRowViewProps, 'row' | 'originOf'>) {
  const hidden = row.stored?.overwrites;
  return (
    <>
      <span>{originOf?.(row) ?? originWord(row)}</span>
      {hidden && (
        <p className={classes.hides}>
          hides <code>{hidden.value === undefined || hidden.value === '' ? '(empty)' : hidden.value}</code> of
          the {originWord({ stored: { scope: hidden.scope } })}
        </p>
      )}
    </>
  );
}

/** Actions for the row as a whole. */
function RowActions({ row, onChange, onRemove, whyNot }: VariableRowViewProps) {
  if (whyNot !== undefined) return null;
  const what = row.name || 'the new variable';
  if (row.before === undefined)
    return (
      <Button size="compact-xs" variant="subtle" color="red" onClick={onRemove} aria-label={`Remove ${what}`}>
        Remove
      </Button>
    );
  if (isChanged(row))
    return (
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => onChange(undone(row))}
        aria-label={`Undo ${what}`}
      >
        Undo
      </Button>
    );
  if (!row.isOwn || row.stored === undefined) return null;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="red"
      onClick={() => onChange({ ...row, isDeleted: true })}
      aria-label={`Delete ${what}`}
    >
      Delete
    </Button>
  );
}

function stateWord(row: VariableFormRow): string | undefined {
  if (row.before === undefined) return 'new';
  if (row.isDeleted) return 'will be deleted';
  if (!isChanged(row)) return undefined;
  return row.isOwn || row.stored === undefined ? 'changed' : 'overrides';
}

export function VariableRowView(props: VariableRowViewProps) {
  const { row, onChange, error, whyNot, isStrict, showsOrigin, originOf } = props;
  const [isOpen, setIsOpen] = useState(row.before === undefined);
  const id = useId();
  const isLocked =
    whyNot !== undefined || row.isDeleted || (row.isReadonly && !row.isOwn && row.stored !== undefined);
  const state = stateWord(row);
  return (
    <li className={classes.row} data-state={state} data-deleted={row.isDeleted || undefined}>
      <div className={classes.cells} data-origin={showsOrigin || undefined}>
        <div className={classes.nameCell}>
          <NameCell {...props} />
        </div>
        <div>
          <VariableValue
            row={row}
            onChange={onChange}
            isDisabled={isLocked}
            error={error}
            isStrict={isStrict}
          />
          <Overtaken row={row} />
        </div>
        {showsOrigin && (
          <div className={classes.origin}>
            <Origin row={row} originOf={originOf} />
          </div>
        )}
        <div className={classes.rowActions}>
          {state !== undefined && <span className={classes.state}>{state}</span>}
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={isOpen}
            aria-controls={id}
            aria-label={`Settings of ${row.name || 'the new variable'}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            Settings
          </Button>
          <RowActions {...props} />
        </div>
      </div>
      <div id={id} hidden={!isOpen}>
        {isOpen && <VariableSettings row={row} onChange={onChange} isDisabled={isLocked} />}
      </div>
    </li>
  );
}
