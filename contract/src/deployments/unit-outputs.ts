/**
 * The outputs of runs that work on several units. Between the parts of the service, an output is named
 * `<unit>.<name>`, with the path of the unit; readers get a list of units. Without schemas, for the start of the
 * command line.
 */
import type { Outputs, UnitOutputs } from './plan.ts';

/** The unit of an output, and its name there; the last `.` separates them. */
export function splitOutputName(name: string): { readonly unit: string; readonly name: string } {
  const end = name.lastIndexOf('.');
  return end === -1 ? { unit: '', name } : { unit: name.slice(0, end), name: name.slice(end + 1) };
}

/** The outputs by unit, in the order of their first output. */
export function splitOutputs(outputs: Outputs): UnitOutputs[] {
  const units = new Map<string, [string, Outputs[string]][]>();
  for (const [whole, value] of Object.entries(outputs)) {
    const { unit, name } = splitOutputName(whole);
    const own = units.get(unit) ?? [];
    if (own.push([name, value]) === 1) units.set(unit, own);
  }
  return [...units].map(([moduleName, own]) => ({ moduleName, output: Object.fromEntries(own) }));
}

/** The outputs of a deployment by name, whatever form a reader got: `<unit>.<name>` where there are units. */
export function outputsByName(output: Outputs | readonly UnitOutputs[] | null): Outputs {
  if (!isByUnit(output)) return output ?? {};
  return Object.fromEntries(
    output.flatMap(({ moduleName, output: own }) =>
      Object.entries(own).map(([name, value]) => [moduleName === '' ? name : `${moduleName}.${name}`, value]),
    ),
  );
}

function isByUnit(output: Outputs | readonly UnitOutputs[] | null): output is readonly UnitOutputs[] {
  return Array.isArray(output);
}
