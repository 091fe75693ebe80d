/** What commands write: text with colours on a terminal, tables that fit it, or one JSON document. */
import { stripVTControlCharacters, styleText } from 'node:util';
import type { Environment } from './settings.ts';

type Style = Parameters<typeof styleText>[0];

/** A column of a table. */
export interface Column<Row> {
  readonly head: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Never cut, as an id that is copied from the table. */
  readonly isWhole?: boolean;
}

export interface Output {
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
  /** Writes text or bytes as they are, and waits while the reader is slower than we are. */
  write(text: string | Uint8Array): Promise<void>;
  /** Writes a line. */
  line(text?: string): Promise<void>;
  /** Writes one JSON document: readable on a terminal and in a file, or as one line. */
  json(value: unknown, isOneLine?: boolean): Promise<void>;
  /** Writes rows below their heads; `ifEmpty` where there are none. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], ifEmpty: string): Promise<void>;
  /** Writes names beside their values; those without a value are left out. */
  fields(rows: readonly (readonly [name: string, value: string | number | null | undefined])[]): Promise<void>;
  style(style: Style, text: string): string;
}

/** Text for one line of a terminal: no colours, no control characters, no line ends. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

const gap = 2;
const narrowest = 8;

/** Cuts the widest columns until all fit. @param available columns of the terminal */
export function fitWidths(widths: readonly number[], isWhole: readonly boolean[], available: number): number[] {
  const fitted = [...widths];
  const total = () => fitted.reduce((sum, width) => sum + width + gap, -gap);
  while (total() > available) {
    const widest = fitted.reduce((best, width, index) => (!isWhole[index] && width > (fitted[best] ?? -1) ? index : best), -1);
    const width = fitted[widest] ?? 0;
    if (width <= narrowest) break;
    fitted[widest] = width - 1;
  }
  return fitted;
}

const none = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};

/** The number of characters as a person counts them. */
function lengthOf(text: string): number {
  return Array.from(new Intl.Segmenter().segment(text)).length;
}

async function layOut(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  isWhole: readonly boolean[],
  available: number,
): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const widths = heads.map((head, index) => Math.max(...[head, ...rows.map((row) => row[index] ?? '')].map(lengthOf)));
  // The width of a column in the library includes its padding.
  const colWidths = Number.isFinite(available) ? fitWidths(widths, isWhole, available).map((width) => width + gap) : [];
  const table = new Table({
    chars: none,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap, compact: true },
    colWidths,
  });
  if (heads.some((head) => head !== '')) table.push([...heads]);
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}

function hasColours(stream: NodeJS.WriteStream, environment: Environment): boolean {
  return stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

/**
 * @param stream usually standard output
 * @param environment usually `process.env`: NO_COLOR and TERM decide on colours
 */
export function createOutput(stream: NodeJS.WriteStream, environment: Environment): Output {
  const colours = hasColours(stream, environment);
  const available = () => (stream.isTTY ? Math.max(40, stream.columns || 80) : Number.POSITIVE_INFINITY);
  const style = (format: Style, text: string) => (colours ? styleText(format, text, { validateStream: false }) : text);

  async function write(text: string | Uint8Array): Promise<void> {
    if (stream.write(text) || stream.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        stream.off('drain', done).off('close', done);
        resolve();
      };
      stream.on('drain', done).on('close', done);
    });
  }

  const line = (text = '') => write(`${text}\n`);
  const cell = (value: string | number | null | undefined) => plain(String(value ?? ''));

  return {
    isTerminal: stream.isTTY === true,
    hasColours: colours,
    write,
    line,
    style,
    json: (value, isOneLine = false) => line(JSON.stringify(value ?? null, null, isOneLine ? undefined : 2)),
    async table(rows, columns, ifEmpty) {
      if (rows.length === 0) return line(style('dim', ifEmpty));
      const cells = rows.map((row) => columns.map(({ value }) => cell(value(row))));
      const text = await layOut(
        columns.map(({ head }) => head),
        cells,
        columns.map(({ isWhole }) => isWhole === true),
        available(),
      );
      const [head = '', ...lines] = text.split('\n').map((each) => each.trimEnd());
      await line([style('bold', head), ...lines].join('\n'));
    },
    async fields(rows) {
      const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
      const width = Math.max(...shown.map(([name]) => name.length));
      for (const [name, value] of shown) await line(`${style('dim', `${name}:`.padEnd(width + 1))}  ${cell(value)}`);
    },
  };
}
