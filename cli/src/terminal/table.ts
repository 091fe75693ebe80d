/** Rows as aligned columns that fit a terminal. */
import { plain } from './safe-text.ts';

/** A column of a table. */
export interface TableColumn<Row> {
  readonly head: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Never cut. */
  readonly isWhole?: boolean;
  /** An id: cut before anything else is, to a beginning that no other row has; commands accept it. */
  readonly isId?: boolean;
  /** Omitted if the terminal is too narrow, the last one first. */
  readonly isExtra?: boolean;
}

interface Fitting {
  readonly width: number;
  readonly isWhole?: boolean | undefined;
  readonly isId?: boolean | undefined;
  readonly isExtra?: boolean | undefined;
  /** The least that it can be cut to. */
  readonly least?: number;
  /** No row has a value. */
  readonly isEmpty?: boolean;
}

const gap = 2;
const narrowest = 8;
/** Characters of an id that is cut: those that hold the time of its creation. */
const narrowestId = 13;

/** The least that a column can be cut to. */
function leastOf({ width, isWhole, isId, least }: Fitting): number {
  return isWhole ? width : Math.min(width, least ?? (isId ? narrowestId : narrowest));
}

/** Characters from the beginning that tell each id from all others. */
function distinctLength(ids: readonly string[]): number {
  const sorted = [...new Set(ids)].toSorted();
  const shared = sorted.slice(1).map((id, index) => {
    const before = sorted[index] ?? '';
    const end = Array.from(id).findIndex((character, at) => character !== before[at]);
    return end < 0 ? id.length : end;
  });
  return Math.max(narrowestId, ...shared.map((length) => length + 1));
}

const sum = (widths: readonly number[]) => widths.reduce((total, width) => total + width + gap, -gap);

/** The columns that fit if all are cut as far as possible. */
function keep<Column extends Fitting>(columns: readonly Column[], available: number): Column[] {
  const isFull = sum(columns.map(({ width }) => width)) > available;
  const kept = columns.filter(({ isExtra, isEmpty }) => !(isFull && isExtra && isEmpty));
  while (sum(kept.map(leastOf)) > available) {
    const extra = kept.findLastIndex(({ isExtra }) => isExtra);
    if (extra < 0) break;
    kept.splice(extra, 1);
  }
  return kept;
}

/**
 * Omits extra columns that do not fit, empty ones first, then cuts ids, and then the widest of the others, until all fit.
 * @param available characters of a line
 * @returns the remaining columns with their widths
 */
function fitColumns<Column extends Fitting>(columns: readonly Column[], available: number): Column[] {
  const kept = keep(columns, available);
  const widths = kept.map(({ width }) => width);
  const canShrink = (index: number) => (widths[index] ?? 0) > leastOf(kept[index] ?? { width: 0 });
  const widestOf = (canBeCut: (column: Column | undefined) => boolean) =>
    widths.reduce(
      (best, width, index) =>
        canShrink(index) && canBeCut(kept[index]) && width > (widths[best] ?? -1) ? index : best,
      -1,
    );
  while (sum(widths) > available) {
    const widestId = widestOf((column) => column?.isId === true);
    const widest = widestId < 0 ? widestOf(() => true) : widestId;
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return kept.map((column, index) => ({ ...column, width: widths[index] ?? 0 }));
}

const sides = ['top', 'bottom', 'left', 'right', 'mid'] as const;
const joints = [
  'top-mid',
  'top-left',
  'top-right',
  'bottom-mid',
  'bottom-left',
  'bottom-right',
  'left-mid',
  'mid-mid',
  'right-mid',
  'middle',
] as const;
const noBorders = Object.fromEntries([...sides, ...joints].map((name) => [name, '']));

/** Characters that a terminal shows twice as wide. */
const wide =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]|.*\ufe0f)/u;

/** The characters as people count them, with the cells of a terminal that each takes. */
function cellsOf(text: string): { readonly character: string; readonly cells: number }[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => ({
    character: segment,
    cells: wide.test(segment) ? 2 : 1,
  }));
}

function lengthOf(text: string): number {
  return cellsOf(text).reduce((sum, { cells }) => sum + cells, 0);
}

/** The characters from the beginning that fit. */
function beginning(characters: ReturnType<typeof cellsOf>, width: number): string[] {
  let room = width;
  const end = characters.findIndex(({ cells }) => (room -= cells) < 0);
  return characters.slice(0, end < 0 ? undefined : end).map(({ character }) => character);
}

/** Text without its middle: names often share a long beginning, and differ at their end. */
function withoutMiddle(text: string, width: number): string {
  if (lengthOf(text) <= width) return text;
  const characters = cellsOf(text);
  const first = beginning(characters, Math.ceil((width - 1) / 2));
  const last = beginning(characters.toReversed(), Math.floor((width - 1) / 2)).toReversed();
  return `${first.join('')}…${last.join('')}`;
}

/**
 * @param available characters of a line; infinite: nothing is cut or omitted
 * @returns the line of heads, and the lines of the rows; null if what may not be cut does not fit
 */
export async function layOut<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  available: number,
): Promise<[head: string, ...lines: string[]] | null> {
  const measured = columns.map((column) => {
    const cells = rows.map((row) => plain(String(column.value(row) ?? '')));
    const width = Math.max(...[column.head, ...cells].map(lengthOf));
    const isEmpty = cells.every((cell) => cell === '');
    return { ...column, cells, width, isEmpty, ...(column.isId ? { least: distinctLength(cells) } : {}) };
  });
  const fitted = fitColumns(measured, available);
  if (sum(fitted.map(({ width }) => width)) > available) return null;
  const { default: Table } = await import('cli-table3');
  // The width of a column in the library includes its padding.
  const colWidths = Number.isFinite(available) ? fitted.map(({ width }) => width + gap) : [];
  const table = new Table({
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap, compact: true },
    colWidths,
  });
  table.push(
    fitted.map(({ head, width }) => withoutMiddle(head, width)),
    ...rows.map((_, index) =>
      fitted.map(({ cells, isId, width }) =>
        isId ? (cells[index] ?? '').slice(0, width) : withoutMiddle(cells[index] ?? '', width),
      ),
    ),
  );
  const [head = '', ...lines] = table
    .toString()
    .split('\n')
    .map((each) => each.trimEnd());
  return [head, ...lines];
}
