/** The rows of a list of variables while it is edited: what was there, what is typed, and what to send. Pure. */
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { VariableFormat, VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import type { Variable, VariableChange } from '#contract/variables/shapes.ts';

/** Placeholder for a sensitive value; sent back with the variable, it means "unchanged". */
export const mask = '********';

/** Properties of a variable that people can change. */
export interface VariableFields {
  readonly name: string;
  readonly type: VariableType;
  readonly value: string;
  readonly description: string;
  readonly isSensitive: boolean;
  readonly isRequired: boolean;
  readonly isReadonly: boolean;
  readonly format: VariableFormat | undefined;
  /** Empty: any value. */
  readonly choices: readonly string[];
  /** Empty: any value. */
  readonly regex: string;
}

export interface VariableFormRow extends VariableFields {
  /** Names the row as long as the list is edited. */
  readonly key: string;
  /** Stored variable; absent: the row is new. */
  readonly before?: VariableFields;
  /** As the service stores it; absent: only the code or this form has it. */
  readonly stored?: Variable;
  /** Whether it belongs to the place that is edited; false: it is inherited. */
  readonly isOwn: boolean;
  readonly isDeleted: boolean;
  /** Someone else has stored another value of what was typed here: a save replaces it. */
  readonly isOvertaken?: boolean;
  /** Edited as plain text although it looks like something else. */
  readonly isText?: boolean;
  /** The type as the code has it, such as `list(string)`. */
  readonly valueType?: string;
  /** Rules of the code about values. */
  readonly rules?: readonly string[];
}

/** The place whose variables are edited. */
export interface Here {
  readonly scope: VariableScope;
  readonly scopeId?: string;
}

const emptyFields: VariableFields = {
  name: '',
  type: 1,
  value: '',
  description: '',
  isSensitive: false,
  isRequired: false,
  isReadonly: false,
  format: undefined,
  choices: [],
  regex: '',
};

type Described = Partial<Pick<Variable, 'value' | 'description' | 'isSensitive' | 'isRequired' | 'regex'>> &
  Pick<Variable, 'name' | 'type'> & { schema?: Variable['schema'] | undefined; isReadonly?: boolean };

function fieldsOf(described: Described): VariableFields {
  const { name, type, value, description, isSensitive, isRequired, isReadonly, regex, schema } = described;
  return {
    ...{ name, type },
    value: value ?? '',
    description: description ?? '',
    isSensitive: isSensitive ?? false,
    isRequired: isRequired ?? false,
    isReadonly: isReadonly ?? false,
    regex: regex ?? '',
    format: schema?.format ?? undefined,
    choices: schema?.enum ?? [],
  };
}

/** The key of a variable that exists: its name is there once per type. */
export function keyOf({ name, type }: Pick<VariableFields, 'name' | 'type'>): string {
  return `${type} ${name}`;
}

/** A row for a variable that the service stores. @param here the place that is edited */
function rowOfVariable(stored: Variable, here: Here): VariableFormRow {
  const fields = fieldsOf(stored as Described);
  const isOwn = stored.scope === here.scope && (stored.scopeId ?? '') === (here.scopeId ?? '');
  return { ...fields, key: keyOf(stored), before: fields, stored, isOwn, isDeleted: false };
}

function factsOfCode({ valueType, rules }: RepositoryVariable): Pick<VariableFormRow, 'valueType' | 'rules'> {
  return { ...(valueType === undefined ? {} : { valueType }), ...(rules?.length ? { rules } : {}) };
}

/** A row for a variable that the code declares; its value is the default of the code. */
function rowOfDefinition(definition: RepositoryVariable): VariableFormRow {
  const fields = fieldsOf(definition as Described);
  return {
    ...fields,
    ...factsOfCode(definition),
    key: keyOf(definition),
    before: fields,
    isOwn: false,
    isDeleted: false,
  };
}

/** A row for a new variable. @param key names it while it is edited, as `randomId()` does */
export function newRow(key: string, type: VariableType = 1): VariableFormRow {
  return { ...emptyFields, type, key, isOwn: true, isDeleted: false };
}

/**
 * Rows for variables that the code declares at a place that inherits some: each once, first those of
 * the code in its order. A stored value counts instead of the default, with the description of the code where it
 * has none of its own.
 * @param here the place that is edited
 */
export function rowsOf(
  definitions: readonly RepositoryVariable[],
  variables: readonly Variable[],
  here: Here,
): VariableFormRow[] {
  const stored = new Map(variables.map((variable) => [keyOf(variable), variable]));
  const declared = definitions.map((definition) => {
    const variable = stored.get(keyOf(definition));
    stored.delete(keyOf(definition));
    if (variable === undefined) return rowOfDefinition(definition);
    const row = rowOfVariable(variable, here);
    const described = { description: row.description || (definition.description ?? '') };
    return { ...row, ...factsOfCode(definition), ...described, before: { ...row.before!, ...described } };
  });
  return [...declared, ...[...stored.values()].map((variable) => rowOfVariable(variable, here))];
}

const comparedFields = Object.keys(emptyFields) as (keyof VariableFields)[];

/** Whether two rows have different values of a setting. */
export function differs(one: VariableFields, other: VariableFields, field: keyof VariableFields): boolean {
  return JSON.stringify(one[field]) !== JSON.stringify(other[field]);
}

/** The settings that a person has changed. */
export function changedFields(row: VariableFormRow): (keyof VariableFields)[] {
  return comparedFields.filter((field) => differs(row, row.before ?? emptyFields, field));
}

/** Whether there is something to send. */
export function isChanged(row: VariableFormRow): boolean {
  return row.before === undefined || row.isDeleted || changedFields(row).length > 0;
}

/** As it was before; a new row stays as it is. */
export function undone(row: VariableFormRow): VariableFormRow {
  return { ...row, ...row.before, isDeleted: false, isText: false, isOvertaken: false };
}

/** The settings alone, without what a form knows about their row. */
export function settingsOf(row: VariableFields): VariableFields {
  return Object.fromEntries(comparedFields.map((field) => [field, row[field]])) as unknown as VariableFields;
}

/**
 * The changes to send as `configurationChanges` or, with scopes added, to save: only what was changed. A variable
 * of an outer place becomes an override by its id.
 */
export function changesOf(rows: readonly VariableFormRow[]): VariableChange[] {
  return rows.filter(isChanged).map(changeOf);
}

function changeOf(row: VariableFormRow): VariableChange {
  const { name, type, stored, isOwn } = row;
  const id = stored?.id === undefined ? {} : { id: stored.id };
  if (row.isDeleted) return { ...id, name, type, toDelete: true };
  const changed = new Set(changedFields(row));
  const plain = (['description', 'isSensitive', 'isRequired', 'isReadonly', 'regex'] as const).filter(
    (field) => changed.has(field),
  );
  const hasSchema = changed.has('format') || changed.has('choices');
  // A definition of the code says more than a stored variable has: its rules go with the first value.
  const isFirst = stored === undefined && row.before !== undefined;
  const rules = isFirst ? rulesOf(row) : {};
  return {
    ...id,
    ...{ name, type },
    ...rules,
    ...(changed.has('value') || !isOwn || stored === undefined ? { value: row.value } : {}),
    ...Object.fromEntries(plain.map((field) => [field, row[field]])),
    ...(hasSchema ? schemaOf(row) : {}),
  };
}

function schemaOf({ format, choices }: VariableFields): Pick<VariableChange, 'schema'> {
  return {
    schema: {
      type: 'string',
      ...(format ? { format } : {}),
      ...(choices.length > 0 ? { enum: [...choices] } : {}),
    },
  };
}

function rulesOf(row: VariableFields): Omit<VariableChange, 'name' | 'type'> {
  return {
    ...(row.isSensitive ? { isSensitive: true } : {}),
    ...(row.regex ? { regex: row.regex } : {}),
    ...(row.format || row.choices.length > 0 ? schemaOf(row) : {}),
  };
}
