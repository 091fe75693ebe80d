/**
 * Precedence among variables with one name and type, and what each hides. Pure; docs/use/variables.md has the
 * same rules as a table.
 *
 * Levels are ordered from the outermost to the innermost: GLOBAL, BLUEPRINT, SUB_ENVIRONMENT_BLUEPRINT, PROJECT
 * (from the top project down), WORKFLOW, ENVIRONMENT, DEPLOYMENT. At each level the configuration sets come
 * first, in the order in which they were assigned, and then the variables of the level itself. This makes one
 * sequence per name and type, in which:
 *
 * 1. the last variable counts, with or without a value;
 * 2. but a read-only variable ends the sequence: whatever follows it has no effect;
 * 3. a value is required if any variable of the sequence says so, up to the one that counts;
 * 4. environment variables and Terraform variables of one name do not affect each other.
 */
import type { VariableType } from '#contract/schema/enumerations.ts';

/** Fields that decide about a variable. */
export interface Candidate {
  readonly name: string;
  readonly type: VariableType;
  readonly is_readonly: boolean;
  readonly is_required: boolean;
}

/** Content of one level. */
export interface Layer<Row extends Candidate> {
  /** The variables of each configuration set that is assigned here, in the order of assignment. */
  readonly sets: readonly (readonly Row[])[];
  /** The variables of the level itself. */
  readonly rows: readonly Row[];
}

/** The result of all variables with one name and type. */
export interface ResolvedVariable<Row extends Candidate> {
  /** The one that counts. */
  readonly winner: Row;
  /** Those that it hides, from the outermost to the innermost. */
  readonly hidden: readonly Row[];
  /** Those without effect, because the winner is read-only and precedes them. */
  readonly locked: readonly Row[];
  /** Whether the value must not be empty. */
  readonly isRequired: boolean;
}

/** Key of variables that can be in effect at the same time. */
export function variableKey({ name, type }: Pick<Candidate, 'name' | 'type'>): string {
  return `${type} ${name}`;
}

/** The order in which replies and runs list variables. */
export function compareNames(
  one: Pick<Candidate, 'name' | 'type'>,
  other: Pick<Candidate, 'name' | 'type'>,
): number {
  if (one.name === other.name) return one.type - other.type;
  return one.name < other.name ? -1 : 1;
}

function resolve<Row extends Candidate>(sequence: readonly Row[]): ResolvedVariable<Row> {
  const lock = sequence.findIndex((row) => row.is_readonly);
  const place = lock === -1 ? sequence.length - 1 : lock;
  const winner = sequence[place] as Row;
  // A set that is assigned at several levels has its variables in each of them.
  const others = (rows: Row[]) => rows.filter((row) => row !== winner);
  return {
    winner,
    hidden: others(sequence.slice(0, place)),
    locked: others(sequence.slice(place + 1)),
    isRequired: sequence.slice(0, place + 1).some((row) => row.is_required),
  };
}

/**
 * Applies the rules above.
 * @param layers from the outermost to the innermost level
 * @returns one entry per name and type, by `variableKey`, in the order in which the names first occur
 */
export function resolvePrecedence<Row extends Candidate>(
  layers: readonly Layer<Row>[],
): Map<string, ResolvedVariable<Row>> {
  const sequences = new Map<string, Row[]>();
  for (const { sets, rows } of layers)
    for (const group of [...sets, rows])
      for (const row of group) {
        const key = variableKey(row);
        const sequence = sequences.get(key);
        if (sequence) sequence.push(row);
        else sequences.set(key, [row]);
      }
  return new Map([...sequences].map(([key, sequence]) => [key, resolve(sequence)]));
}
