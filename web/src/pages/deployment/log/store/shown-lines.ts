/** Lines as they are shown: decoded, as a terminal would leave them, cut where they are very long. */
import { plainText, type Segment, segmentsOf } from '../text/segments.ts';
import { styleAfter } from '../text/style.ts';
import { terminalLine } from '../text/terminal.ts';
import { hitsIn, type Pattern } from './pattern.ts';
import type { LineRange, StepLog } from './step-log.ts';

/** Characters of a line that are shown until more of it is requested. */
export const shownCharacters = 4_000;
/** A line is read no further for showing it. */
const readBytes = 4 << 20;
const mostHits = 500;

export interface ShownLine {
  readonly segments: readonly Segment[];
  /** Characters that are left out at the end. */
  readonly hidden: number;
  /** Start and end of each hit of the search, one after the other, in characters. */
  readonly hits: readonly number[];
  /** When it was stored, in milliseconds since 1970. */
  readonly at?: number;
}

const decoder = new TextDecoder();

/** The first characters of segments. */
function cut(segments: readonly Segment[], characters: number): Segment[] {
  const kept: Segment[] = [];
  let left = characters;
  for (const segment of segments) {
    if (left <= 0) break;
    kept.push(segment.text.length <= left ? segment : { ...segment, text: segment.text.slice(0, left) });
    left -= segment.text.length;
  }
  return kept;
}

function shownLine(text: string, style: string, characters: number, pattern: Pattern | undefined) {
  const length = plainText(text).length;
  // Sequences take room, too; what is far beyond the cut needs no look.
  const all = segmentsOf(`${style}${length > characters ? text.slice(0, characters * 8) : text}`);
  const segments = length > characters ? cut(all, characters) : all;
  const plain = segments.map((segment) => segment.text).join('');
  const hits = pattern === undefined ? [] : hitsIn(pattern, plain, mostHits);
  return { segments, hits, hidden: Math.max(0, length - plain.length) };
}

/**
 * The lines of a block.
 * @param longer lines, counted from the first of the block, of which more characters are shown
 */
export function shownLines(
  log: StepLog,
  block: number,
  pattern: Pattern | undefined,
  longer: Readonly<Record<number, number>> = {},
): ShownLine[] {
  let style = log.styleOf(block);
  return log.linesOf(block).map(({ from, to }: LineRange, index) => {
    const raw = decoder.decode(log.bytes.slice(from, Math.min(to, from + readBytes)));
    const shown = shownLine(terminalLine(raw), style, longer[index] ?? shownCharacters, pattern);
    if (raw.includes('\x1b')) style = styleAfter(style, raw);
    const at = log.timeOf(from);
    return at === undefined ? shown : { ...shown, at };
  });
}
