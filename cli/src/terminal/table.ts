/** Rows as aligned columns that fit a terminal. */
import { plain } from './safe-text.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly head: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Never cut. */
  readonly isWhole?: boolean;
  /** An id: cut before anything else is, and then without its middle. */
  readonly isId?: boolean;
  /** Omitted if the terminal is too narrow, the last one first. */
  readonly isExtra?: boolean;
}

interface Fitting {
  readonly width: number;
  readonly isWhole?: boolean | undefined;
  readonly isId?: boolean | undefined;
  readonly isExtra?: boolean | undefined;
}

const gap = 2;
const narrowest = 8;
/** Characters of an id that is cut: its first eight, a sign, and its last four. */
const narrowestId = 13;

/** The least that a column can be cut to. */
function leastOf({ width, isWhole, isId }: Fitting): number {
  return isWhole ? width : Math.min(width, isId ? narrowestId : narrowest);
}

const sum = (widths: readonly number[]) => widths.reduce((total, width) => total + width + gap, -gap);

/** The columns that fit if all are cut as far as possible. */
function keep<Column extends Fitting>(columns: readonly Column[], available: number): Column[] {
  const kept = [...columns];
  while (sum(kept.map(leastOf)) > available) {
    const extra = kept.findLastIndex(({ isExtra }) => isExtra);
    if (extra < 0) break;
    kept.splice(extra, 1);
  }
  return kept;
}

/**
 * Omits extra columns that do not fit, then cuts ids, and then the widest of the others, until all fit.
 * @param available characters of a line
 * @returns the remaining columns with their widths
 */
export function fitColumns<Column extends Fitting>(columns: readonly Column[], available: number): Column[] {
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

/** The number of characters as people count them. */
function lengthOf(text: string): number {
  return Array.from(new Intl.Segmenter().segment(text)).length;
}

/** An id without its middle: its beginning and end tell it from others. */
function shortId(id: string, width: number): string {
  return id.length <= width ? id : `${id.slice(0, 8)}…${id.slice(9 - width)}`;
}

/**
 * @param available characters of a line; infinite: nothing is cut or omitted
 * @returns the line of heads, and the lines of the rows; null if what may not be cut does not fit
 */
export async function layOut<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  available: number,
): Promise<[head: string, ...lines: string[]] | null> {
  const measured = columns.map((column) => {
    const cells = rows.map((row) => plain(String(column.value(row) ?? '')));
    return { ...column, cells, width: Math.max(...[column.head, ...cells].map(lengthOf)) };
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
    fitted.map(({ head }) => head),
    ...rows.map((_, index) =>
      fitted.map(({ cells, isId, width }) =>
        isId ? shortId(cells[index] ?? '', width) : (cells[index] ?? ''),
      ),
    ),
  );
  const [head = '', ...lines] = table
    .toString()
    .split('\n')
    .map((each) => each.trimEnd());
  return [head, ...lines];
}
