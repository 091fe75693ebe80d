/** Promises of docs/use/tools.md for each tool. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunnableTool } from '#protocol/tools/index.ts';

/** The promises, with the rows of the table that make them. */
export const promises = {
  isExact: 'The apply carries out exactly the approved plan',
  marksDrift: 'A drift run marks what was changed by hand',
  reportsProgress: 'Each resource is reported while it changes',
  hasStates: 'States are kept, sealed and versioned by the service',
  hasOutputs: 'Outputs',
  hasTargets: 'A deployment can be limited to targets',
  importsResources: 'What a killed run could not record can be imported',
} as const;

export type Promises = Readonly<Record<keyof typeof promises, boolean>>;

/**
 * Reads the table, whose columns are types.
 * @returns what is promised of a tool: each cell begins with `yes` or `no`
 * @throws Error that names the row or column that is missing, or the cell that says neither
 */
export async function promisesOf(type: RunnableTool): Promise<Promises> {
  const page = await readFile(join(import.meta.dirname, '../../docs/use/tools.md'), 'utf8');
  const table = /^\| Promise \|.*?(?=\n\n)/ms.exec(page)?.[0] ?? '';
  const [head = [], ...rows] = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const column = head.indexOf(`\`${type}\``);
  if (column === -1) throw new Error(`The table of promises in docs/use/tools.md has no column \`${type}\``);
  const cellOf = (title: string): boolean => {
    const cell = rows.find((cells) => cells[1] === title)?.[column];
    if (cell === undefined)
      throw new Error(`The table of promises in docs/use/tools.md has no row "${title}"`);
    const word = /^(yes|no)\b/.exec(cell)?.[1];
    if (word === undefined)
      throw new Error(`"${title}" of ${type} in docs/use/tools.md says neither yes nor no`);
    return word === 'yes';
  };
  const entries = Object.entries(promises).map(([name, title]) => [name, cellOf(title)]);
  return Object.fromEntries(entries) as Promises;
}
