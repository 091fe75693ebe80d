/**
 * Text of runs and of other people, made safe for a terminal: what it shows is all that it does.
 *
 * Line ends, tabs and colours pass; a carriage return, which would overwrite, ends the line. Every other control character, and those that reorder text, are shown as
 * `\x1b` or `\u202e`: sequences that write the clipboard, set the title, move the cursor or request a reply have no
 * effect, and are visible.
 */

/** Line ends, sequences that may be colours, and characters that a terminal could obey. */
const special = /\u001b\[[\d;]{0,64}m|\r?\n|[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]--[\t]]/gv;

/** Text that may become one of them with the next chunk. */
const unfinished = /(?:\r|\u001b(?:\[[\d;]{0,64})?)$/;

/**
 * One parameter of a colour sequence: reset, weight, underline, reverse and colours; neither blinking (5, 6) nor
 * hidden (8).
 */
const parameter = String.raw`0*(?:[0-479]|2[1-57-9]|[349][0-7]|10[0-7]|[34]9|[34]8;5;\d{1,3}|[34]8;2(?:;\d{1,3}){3})?`;
const colours = new RegExp(String.raw`^\u001b\[${parameter}(?:;${parameter}){0,15}m$`);

const reset = '\u001b[0m';

/** Colours that are longer are not continued on the next line: a run could make every line long. */
const longestContinued = 32;

/** A UTF-8 character of several bytes, or a byte that belongs to none; each byte as one character. */
const utf8OrByte = new RegExp(
  [
    String.raw`[\xc2-\xdf][\x80-\xbf]`,
    String.raw`\xe0[\xa0-\xbf][\x80-\xbf]`,
    String.raw`\xed[\x80-\x9f][\x80-\xbf]`,
    String.raw`[\xe1-\xec\xee\xef][\x80-\xbf]{2}`,
    String.raw`\xf0[\x90-\xbf][\x80-\xbf]{2}`,
    String.raw`[\xf1-\xf3][\x80-\xbf]{3}`,
    String.raw`\xf4[\x80-\x8f][\x80-\xbf]{2}`,
    String.raw`[\x80-\xff]`,
  ].join('|'),
  'g',
);

/** `\x1b` or `\u202e`. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : escaped(code);
}

const escaped = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;

/** Bytes as text; those that are not UTF-8 as `\x9b`. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(utf8OrByte, (found) =>
      found.length > 1
        ? Buffer.from(found, 'latin1').toString('utf8')
        : `\\x${found.charCodeAt(0).toString(16)}`,
    );
}

/** Makes a text safe that comes in chunks, which may be cut inside a sequence. */
export class SafeText {
  readonly #hasColours: boolean;
  #unfinished = '';
  /** The sequences since the last reset, which colour what follows. */
  #active = '';

  /** @param hasColours whether colours are shown; they are removed otherwise */
  constructor(hasColours: boolean) {
    this.#hasColours = hasColours;
  }

  /** @returns what can be written now; colours end at the end of a line, and continue on the next one */
  push(chunk: string | Uint8Array): string {
    const text = this.#unfinished + (typeof chunk === 'string' ? chunk : textOf(chunk));
    this.#unfinished = unfinished.exec(text)?.[0] ?? '';
    return this.#safe(text.slice(0, text.length - this.#unfinished.length));
  }

  /** @returns what was held back, and the end of colours */
  end(): string {
    const rest = this.#safe(this.#unfinished);
    this.#unfinished = '';
    return rest + this.#endColours();
  }

  #safe(text: string): string {
    return text.replaceAll(special, (found) => {
      // Progress that a tool would overwrite continues on the next line.
      if (found.endsWith('\n') || found === '\r') return this.#lineEnd();
      if (!colours.test(found)) return found.replace(/^[^]/, visible);
      if (!this.#hasColours) return '';
      const isReset = /^\u001b\[[0;]*m$/.test(found);
      this.#active = isReset ? '' : (this.#active + found).slice(0, longestContinued + 1);
      return found;
    });
  }

  #lineEnd(): string {
    const continued = this.#active.length > longestContinued ? '' : this.#active;
    const end = `${this.#endColours()}\n${continued}`;
    this.#active = continued;
    return end;
  }

  #endColours(): string {
    if (this.#active === '') return '';
    this.#active = '';
    return reset;
  }
}

/**
 * Text of one or more lines.
 * @param hasColours whether colours are shown; they are removed otherwise
 */
export function safeText(text: string | Uint8Array, hasColours = false): string {
  const safe = new SafeText(hasColours);
  return safe.push(text) + safe.end();
}

/** Text for one line, without colours: line ends and tabs become blanks. */
export function plain(text: string): string {
  return safeText(text).replaceAll(/[\n\t]+/g, ' ');
}

/** A JSON document whose strings hold no control character: JSON itself escapes only some of them. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(special, (found) =>
    found === '\n' ? found : escaped(found.charCodeAt(0)),
  );
}
