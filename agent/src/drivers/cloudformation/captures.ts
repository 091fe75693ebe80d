/** Captures of the commands of a phase. */

import { parseExactly } from '#contract/schema/exact-json.ts';
import { recordOf } from '#contract/schema/is-record.ts';
import type { PhaseCaptures } from '../interface/command.ts';

/** Names of captured outputs. */
export const captured = {
  changeSet: 'change-set.json',
  drift: 'drift.json',
  deletion: 'deletion.json',
  outputs: 'outputs.json',
} as const;

/** Lists in each report. */
const lists: Readonly<Record<string, readonly string[]>> = {
  [captured.changeSet]: ['changes'],
  [captured.drift]: ['drifts'],
  [captured.deletion]: ['resources'],
  [captured.outputs]: ['outputs', 'resources'],
};

/** @throws Error if the program has not reported, or something else */
export function reportOf<Report>(captures: PhaseCaptures, name: string): Report {
  const bytes = captures.get(name);
  if (bytes === undefined || bytes.length === 0) throw new Error(`the report ${name} is missing`);
  const report: unknown = parseExactly(Buffer.from(bytes).toString());
  const isWhole = lists[name]?.every((list) => Array.isArray(recordOf(report)[list])) ?? true;
  if (!isWhole) throw new Error(`the report ${name} is not one of this version`);
  return report as Report;
}
