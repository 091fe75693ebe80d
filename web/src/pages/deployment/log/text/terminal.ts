/**
 * One line of a log as a terminal would leave it: what carriage returns, backspaces and erasures have overwritten
 * is gone, and of the escape sequences only colours and links stay. What a terminal would not show is shown as a
 * picture of its control character.
 */

/** Colours (SGR) and links (OSC 8) with parameters of the usual form: `segmentsOf` reads them. */
const kept = String.raw`\x1b\[[\d;]*m|\x1b\]8;[^\x00-\x1f\x7f]*(?:\x07|\x1b\\)`;
const unusual = new RegExp(String.raw`(?:${kept})|([\x00-\x08\x0b-\x1f\x7f-\x9f])`, 'g');
const token = new RegExp(
  [
    String.raw`\x1b\[(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])`,
    String.raw`\x1b\](?<command>[^\x00-\x1f\x7f]*)(?:\x07|\x1b\\)`,
    // Strings for the terminal itself, and the escapes of two characters.
    String.raw`(?<dropped>\x1b[PX^_][^\x1b\n]*\x1b\\|\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ\\` +
      '`' +
      String.raw`-~])`,
    String.raw`(?<control>[\x00-\x08\x0b-\x1f\x7f-\x9f])`,
    String.raw`(?<text>[^\x00-\x08\x0b-\x1f\x7f-\x9f]+)`,
  ].join('|'),
  'gu',
);

/** A cursor cannot be sent further to the right of what is there: a line of any length costs a few bytes. */
const furthest = 1_000;

/** Whether a line has anything but text, colours and links. */
function isUnusual(line: string): boolean {
  unusual.lastIndex = 0;
  for (let match = unusual.exec(line); match; match = unusual.exec(line))
    if (match[1] !== undefined) return true;
  return false;
}

/** U+2400 and following show control characters; those above 127 have no picture. */
function picture(control: string): string {
  const code = control.charCodeAt(0);
  return code === 0x7f ? '\u2421' : code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
}

/** Parameters between colons mean the same as between semicolons; an underline of any form is one. */
function plainParameters(parameters: string): string {
  return parameters
    .split(';')
    .map((part) => (part.startsWith('4:') ? (part === '4:0' ? '24' : '4') : part))
    .map((part) =>
      part
        .split(':')
        .filter((each) => each !== '')
        .join(';'),
    )
    .join(';');
}

interface TerminalCell {
  readonly character: string;
  readonly style: string;
  readonly link: string;
}

const isReset = (parameters: string) => /^[0;]*$/.test(parameters);
const blank: TerminalCell = { character: ' ', style: '', link: '' };

/** The cells of one line, and where the next character goes. */
class Row {
  readonly cells: TerminalCell[] = [];
  column = 0;
  style = '';
  link = '';

  write(text: string): void {
    for (const character of text) {
      while (this.cells.length < this.column) this.cells.push(blank);
      this.cells[this.column++] = { character, style: this.style, link: this.link };
    }
  }

  moveTo(column: number): void {
    this.column = Math.max(0, Math.min(column, this.cells.length + furthest));
  }

  erase(mode: number): void {
    if (mode === 2) this.cells.length = 0;
    else if (mode === 1) this.cells.fill(blank, 0, Math.min(this.column + 1, this.cells.length));
    else this.cells.length = Math.min(this.cells.length, this.column);
  }

  control(character: string): void {
    if (character === '\r') this.column = 0;
    else if (character === '\b') this.moveTo(this.column - 1);
    else this.write(picture(character));
  }

  sequence(final: string, parameters: string): void {
    if (/[^\d;:]/.test(parameters)) return;
    const first = Number.parseInt(parameters, 10);
    const steps = Number.isNaN(first) ? 1 : first;
    if (final === 'm') this.setStyle(plainParameters(parameters));
    else if (final === 'K' || final === 'J') this.erase(Number.isNaN(first) ? 0 : first);
    else if (final === 'G') this.moveTo(steps - 1);
    else if (final === 'C') this.moveTo(this.column + steps);
    else if (final === 'D') this.moveTo(this.column - steps);
  }

  setStyle(parameters: string): void {
    // Long chains of styles without an end are never intended.
    this.style = isReset(parameters) ? '' : `${this.style.slice(-200)}\x1b[${parameters}m`;
  }

  toString(): string {
    let text = '';
    let style = '';
    let link = '';
    for (const cell of this.cells) {
      if (cell.link !== link) text += `\x1b]8;;${cell.link}\x07`;
      if (cell.style !== style) text += `\x1b[0m${cell.style}`;
      ({ style, link } = cell);
      text += cell.character;
    }
    return text + (link === '' ? '' : '\x1b]8;;\x07') + (style === '' ? '' : '\x1b[0m');
  }
}

/**
 * @param line without its newline
 * @returns text with colours and links, and without any other control character than tabs
 */
export function terminalLine(line: string): string {
  const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (!isUnusual(trimmed)) return trimmed;
  const row = new Row();
  for (const { groups = {} } of trimmed.matchAll(token)) {
    const { text, control, final, parameters = '', command } = groups;
    if (text !== undefined) row.write(text);
    else if (control !== undefined) row.control(control);
    else if (final !== undefined) row.sequence(final, parameters);
    else if (command?.startsWith('8;')) row.link = command.slice(command.indexOf(';', 2) + 1);
  }
  return row.toString();
}
