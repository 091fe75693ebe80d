/** Units that terragrunt could not plan, because they use outputs that other units do not have yet. */
import { posix } from 'node:path';
import { isRecord } from '#contract/schema/is-record.ts';
import { type PhaseCaptures } from '../interface/command.ts';
import { withoutColours } from '../terraform/progress.ts';
import { textsBetween } from './texts-between.ts';

/** Under which a run's report is captured. */
export const reportCapture = 'report.json';

interface ReportedUnit {
  readonly name: string;
  readonly result: string;
}

function reported(value: unknown): ReportedUnit[] {
  return isRecord(value) ? [{ name: String(value['Name']), result: String(value['Result']) }] : [];
}

/** Report about each unit. */
export function reportedUnits(captures: PhaseCaptures): Map<string, string> {
  try {
    const units = JSON.parse(new TextDecoder().decode(captures.get(reportCapture))) as unknown;
    const list = Array.isArray(units) ? units.flatMap(reported) : [];
    return new Map(list.map(({ name, result }) => [name, result]));
  } catch {
    // Terragrunt was ended before it wrote one.
    return new Map();
  }
}

/** Missing part of a unit. */
export interface MissingOutputs {
  /** Paths of the units that have no outputs. */
  readonly of: readonly string[];
  /** Names of outputs that the others do not have. */
  readonly names: readonly string[];
}

/** Of terragrunt's error about a unit without outputs: its file, and that of the unit that uses them. */
function filesOfMissing(line: string): { readonly from: string; readonly to: string } | null {
  const [before = '', to = ''] = textsBetween(line, ' is a dependency of ', ' but detected no outputs') ?? [];
  const [, from = ''] =
    (before.startsWith('* /') ? ['', before.slice(2)] : textsBetween(before, 'outputs: ')) ?? [];
  return from.startsWith('/') && to.startsWith('/') ? { from, to } : null;
}

/** Of terragrunt's error about an output that a unit does not have: the unit that uses it, and its name. */
function missingName(line: string): { readonly unit: string; readonly name: string } | null {
  const [time = ' ', space = '', unit = '', , name = ''] =
    textsBetween(line, ' ERROR', '[', '] ', 'This object does not have an attribute named "', '"') ?? [];
  return time.includes(' ') || space.trim() !== '' || unit === '' || name === '' ? null : { unit, name };
}

/** Whether terragrunt says in a line that a unit has no outputs, or not the one that another uses. */
export function isAboutMissing(coloured: string): boolean {
  const line = withoutColours(coloured);
  return filesOfMissing(line) !== null || missingName(line) !== null;
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  map.set(key, (map.get(key) ?? new Set()).add(value));
}

/**
 * The units that could not be planned, with what they lack; nothing: they need such a unit.
 * @param lines of terragrunt's output that are about missing outputs; others are left out
 * @returns null if terragrunt failed for another reason
 */
export function unplannedUnits(
  captures: PhaseCaptures,
  lines: Uint8Array | undefined,
  configurationFolder: string,
): Map<string, MissingOutputs> | null {
  const units = reportedUnits(captures);
  const named = (result: string) => [...units].flatMap(([name, found]) => (found === result ? [name] : []));
  const [failed, notRun] = [named('failed'), named('early exit')];
  const [providers, names] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const pathOf = (file: string) => posix.relative(configurationFolder, posix.dirname(file)) || '.';
  for (const coloured of new TextDecoder().decode(lines).split('\n')) {
    const line = withoutColours(coloured);
    const files = filesOfMissing(line);
    if (files !== null) addTo(providers, pathOf(files.to), pathOf(files.from));
    const missing = missingName(line);
    if (missing !== null) addTo(names, missing.unit, missing.name);
  }
  const isExplained = (unit: string) => providers.has(unit) || names.has(unit);
  if (failed.length === 0 || !failed.every(isExplained)) return null;
  const lacking = (unit: string) => ({
    of: [...(providers.get(unit) ?? [])],
    names: [...(names.get(unit) ?? [])],
  });
  return new Map([...failed, ...notRun].map((unit) => [unit, lacking(unit)]));
}
