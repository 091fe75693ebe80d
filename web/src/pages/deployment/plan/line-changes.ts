/** The differences of very long texts, line by line: comparing their characters would take too long. */
import { Change, diff } from '@codemirror/merge';

/** Code units that stand for lines; surrogates are left out, as they have to come in pairs. */
const firstUnit = 0xe000;
const units = 0x10000 - 0x800 - 1;

function unitOf(number: number): string {
  return String.fromCharCode(number < 0xd7ff ? number + 1 : number - 0xd7ff + firstUnit);
}

/** Start of each line, and the end of the text. */
function startsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  starts.push(text.length);
  return starts;
}

/**
 * Compares two texts as sequences of lines.
 * @returns undefined where there are too many different lines
 */
export function lineChanges(before: string, after: string): readonly Change[] | undefined {
  const numbers = new Map<string, number>();
  const encode = (text: string, starts: readonly number[]) =>
    starts
      .slice(0, -1)
      .map((start, at) => {
        const line = text.slice(start, starts[at + 1]);
        const number = numbers.get(line) ?? numbers.size;
        numbers.set(line, number);
        return unitOf(Math.min(number, units - 1));
      })
      .join('');
  const startsBefore = startsOf(before);
  const startsAfter = startsOf(after);
  const changes = diff(encode(before, startsBefore), encode(after, startsAfter), { timeout: 1000 });
  if (numbers.size >= units) return undefined;
  return changes.map(
    ({ fromA, toA, fromB, toB }) =>
      new Change(startsBefore[fromA]!, startsBefore[toA]!, startsAfter[fromB]!, startsAfter[toB]!),
  );
}
