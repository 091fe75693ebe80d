/** Output of commands: text with colours on a terminal, tables that fit it, or one JSON document. */
import { styleText } from 'node:util';
import type { CommandEnvironment } from '../session/settings.ts';
import { plain, safeJson, safeText } from './safe-text.ts';
import { layOut, type TableColumn } from './table.ts';

type Style = Parameters<typeof styleText>[0];

export interface Output {
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
  /** Writes text or bytes unchanged, and waits for slow readers; what others wrote must be safe text. */
  write(text: string | Uint8Array): Promise<void>;
  /** Writes data for another program: unchanged, but as safe text on a terminal. */
  data(data: string | Uint8Array): Promise<void>;
  /** Writes a line as safe text. */
  line(text?: string): Promise<void>;
  /** Writes one JSON document, indented or as one line. */
  json(value: unknown, isOneLine?: boolean): Promise<void>;
  /** Writes rows below their heads, or `ifEmpty` if there are none. */
  table<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[], ifEmpty: string): Promise<void>;
  /** Writes names with their values, without those that have none. */
  fields(
    rows: readonly (readonly [name: string, value: string | number | null | undefined])[],
  ): Promise<void>;
  style(style: Style, text: string): string;
  /** Text with our own signs, replaced if the terminal's locale does not have them. */
  signs(text: string): string;
}

function hasColours(stream: NodeJS.WriteStream, environment: CommandEnvironment): boolean {
  return stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

const plainSigns: Readonly<Record<string, string>> = { '▸': '>', '✔': '+', '✖': 'x', '…': '...' };

/** Whether the locale names an encoding other than UTF-8. */
function isOtherEncoding({ LC_ALL, LC_CTYPE, LANG }: CommandEnvironment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return locale !== undefined && locale !== '' && !/utf-?8/i.test(locale);
}

/**
 * @param stream usually standard output
 * @param environment usually `process.env`: NO_COLOR and TERM control colours
 */
export function createOutput(stream: NodeJS.WriteStream, environment: CommandEnvironment): Output {
  const colours = hasColours(stream, environment);
  const available = () => (stream.isTTY ? Math.max(20, stream.columns || 80) : Number.POSITIVE_INFINITY);
  const hasPlainSigns = stream.isTTY === true && isOtherEncoding(environment);
  const signs = (text: string) =>
    hasPlainSigns ? text.replaceAll(/[▸✔✖…]/g, (sign) => plainSigns[sign] ?? sign) : text;
  const style = (format: Style, text: string) =>
    colours ? styleText(format, text, { validateStream: false }) : text;

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

  const line = (text = '') => write(`${safeText(text, colours)}\n`);

  async function fields(rows: Parameters<Output['fields']>[0]): Promise<void> {
    const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value] of shown) {
      const [first = '', ...more] = String(value).trimEnd().split(/\r?\n/);
      await line(`${style('dim', `${name}:`.padEnd(width + 1))}  ${plain(first)}`);
      for (const each of more) await line(`${' '.repeat(width + 3)}${plain(each)}`.trimEnd());
    }
  }

  return {
    isTerminal: stream.isTTY === true,
    hasColours: colours,
    write,
    data: (data) => write(stream.isTTY ? safeText(data) : data),
    line,
    style,
    signs,
    json: (value, isOneLine = false) => write(`${safeJson(value ?? null, isOneLine ? undefined : 2)}\n`),
    async table(rows, columns, ifEmpty) {
      if (rows.length === 0) return line(style('dim', ifEmpty));
      const laidOut = await layOut(rows, columns, available());
      if (laidOut === null) {
        for (const row of rows) {
          await line();
          await fields(columns.map(({ head, value }) => [head, value(row)] as const));
        }
        return;
      }
      const [head, ...lines] = laidOut;
      await line([style('bold', head), ...lines].join('\n'));
    },
    fields,
  };
}
