/** What the commands of a phase have captured. */
import type { Captures } from '../command.ts';

/** Names of captured outputs. */
export const captured = {
  changeSet: 'change-set.json',
  drift: 'drift.json',
  deletion: 'deletion.json',
  outputs: 'outputs.json',
} as const;

/** @throws Error if the program has not reported */
export function reportOf<Report>(captures: Captures, name: string): Report {
  const bytes = captures.get(name);
  if (bytes === undefined || bytes.length === 0) throw new Error(`the report ${name} is missing`);
  return JSON.parse(Buffer.from(bytes).toString()) as Report;
}
