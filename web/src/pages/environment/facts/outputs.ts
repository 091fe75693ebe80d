/** Outputs as the page shows them. Pure. */
import type { Outputs, OutputValue } from '#contract/deployments/plan.ts';
import { splitOutputName } from '#contract/deployments/unit-outputs.ts';

/** A value as text: text as it is, all else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

export interface OutputGroup {
  /** Path of the unit; empty where there is one only. */
  readonly unit: string;
  readonly all: readonly (readonly [whole: string, name: string, output: OutputValue])[];
}

/**
 * The outputs by unit, by name.
 * @param find text in their names
 * @param isByUnit whether the part before the last dot of a name is its unit
 */
export function groupOutputs(outputs: Outputs, find: string, isByUnit: boolean): OutputGroup[] {
  const text = find.toLowerCase();
  const rows = Object.entries(outputs)
    .filter(([whole]) => whole.toLowerCase().includes(text))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([whole, output]) => ({
      ...(isByUnit ? splitOutputName(whole) : { unit: '', name: whole }),
      whole,
      output,
    }));
  return [...Map.groupBy(rows, ({ unit }) => unit)].map(([unit, all]) => ({
    unit,
    all: all.map(({ whole, name, output }) => [whole, name, output] as const),
  }));
}

export interface StateContent {
  readonly outputs?: Readonly<Record<string, { readonly value: unknown }>>;
  /** Of a run of several units: their states, by path. */
  readonly units?: Readonly<Record<string, StateContent>>;
}

/** An output in a state file; undefined: the state has none of that name, or none that can be read. */
export function stateOutput(
  { outputs, units }: StateContent,
  whole: string,
): { readonly value: unknown } | undefined {
  if (units === undefined) return outputs?.[whole];
  const { unit, name } = splitOutputName(whole);
  return units[unit]?.outputs?.[name];
}
