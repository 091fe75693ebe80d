/** Shows resources that a run created, or may have created, and that no state has. */
import type { UnrecordedResource } from '#contract/deployments/plan.ts';
import type { Output } from '../terminal/output.ts';
import { plain } from '../terminal/safe-text.ts';
import type { TableColumn } from '../terminal/table.ts';

/** An address in which nothing is evaluated: names, and keys without templates. */
const part = /[\p{ID_Start}_][\p{ID_Continue}\-]*(?:\[(?:\d+|"(?:[^"\\$%\p{Cc}]|\\["\\]|[$%](?!\{))*")\])?/v
  .source;
const wholeAddress = new RegExp(String.raw`^${part}(?:\.${part})+$`, 'v');

const columns: readonly TableColumn<UnrecordedResource>[] = [
  { head: 'ADDRESS', value: ({ address }) => address, isWhole: true },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
  { head: 'CERTAINTY', value: ({ certainty }) => certainty },
];

function quoted(text: string): string {
  const escaped = text
    .replaceAll(/["\\]/g, (sign) => `\\${sign}`)
    .replaceAll(/[$%](?=\{)/g, (sign) => sign + sign);
  return `"${escaped}"`;
}

/**
 * `import` blocks of the resources that were certainly created and have an ID, ready to be pasted. Both come from
 * a run: what could be read as anything else is left out.
 * @returns their lines
 */
function importBlocks(unrecorded: readonly UnrecordedResource[]): string[] {
  return unrecorded.flatMap(({ address, id, certainty }) =>
    certainty === 'created' && id !== undefined && plain(id) === id && wholeAddress.test(address)
      ? ['import {', `  to = ${address}`, `  id = ${quoted(id)}`, '}']
      : [],
  );
}

/** Lists them, if there are any, with what to do about them. */
export async function showUnrecorded(
  output: Output,
  unrecorded: readonly UnrecordedResource[],
): Promise<void> {
  if (unrecorded.length === 0) return;
  await output.line('Resources that were created, or may have been, and are missing from the state:');
  await output.table(unrecorded, columns, '');
  const blocks = importBlocks(unrecorded);
  if (blocks.length === 0) return;
  await output.line();
  await output.line(
    'To import those that were created, deploy with --import-unrecorded, or add to the code:',
  );
  for (const line of blocks) await output.line(line);
}
