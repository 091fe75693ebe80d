/**
 * Splits files with Terraform variables (`*.tfvars`) into names and expressions. The service reads the expressions:
 * its parser is several times as large as the command line.
 */
import { BadCall } from '../session/exit-codes.ts';

/** A variable of a file: the text of a string, or another expression as it is written. */
export type TfvarsVariable = { readonly name: string } & (
  | { readonly text: string; readonly expression?: undefined }
  | { readonly expression: string }
);

// Lines of HCL end with \n only: a comment or a heredoc continues after a lone \r, where `.` stops.
const blank = /(?:\s|#[^\n]*|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
const beginning = /([\p{ID_Start}_][\p{ID_Continue}-]*)[ \t]*=(?![=>])[ \t]*/uy;
/** Without templates: Terraform refuses variables and functions in these files. `$${` is an escaped `${`. */
const string = /"(?:[^"\\\n$%]|\\.|\$\$\{|%%\{|[$%](?!\{))*"/y;
const heredoc = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)\r?\n(?:[^\n]*\n)*?[ \t]*\1(?=[ \t\r]*(?:\n|$))/uy;
const comment = /#[^\n]*|\/\/[^\n]*|\/\*[^]*?\*\//y;
const escape =
  /\\(?:([nrt"\\])|u([\da-fA-F]{4})|U(00(?:0[\da-fA-F]|10)[\da-fA-F]{4}))|(?:\$(?=\$\{)|%(?=%\{))/g;
const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const closing: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' };

/** Reads one file from its beginning to its end. */
class Reader {
  readonly #shown: string;
  readonly #text: string;
  #at = 0;

  /** @param shown how messages name the file */
  constructor(shown: string, text: string) {
    this.#shown = shown;
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Reads what a sticky expression finds here. */
  take(what: RegExp): RegExpExecArray | null {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text);
    if (found) this.#at += found[0].length;
    return found;
  }

  /** The file is not quoted, as it may contain secrets. */
  fail(): never {
    const lines = this.#text.slice(0, this.#at).split('\n');
    throw new BadCall(
      `--var-file: ${this.#shown}: line ${lines.length} column ${(lines.at(-1)?.length ?? 0) + 1}: expected are variables with constant values, each once.`,
    );
  }

  /** An expression ends with its line, unless a bracket is open. */
  expression(): string {
    const begin = this.#at;
    let end = begin;
    const open: string[] = [];
    while (!this.isAtEnd) {
      const character = this.#text.charAt(this.#at);
      if (character === '\n' && open.length === 0) break;
      if (this.take(comment)) continue;
      if (!this.take(string) && !this.take(heredoc)) this.#step(character, open);
      if (character.trim() !== '') end = this.#at;
    }
    if (open.length > 0 || end === begin) this.fail();
    return this.#text.slice(begin, end);
  }

  /** @param open the brackets that have to follow, the next one last */
  #step(character: string, open: string[]): void {
    if (character === open.at(-1)) open.pop();
    else if (Object.hasOwn(closing, character)) open.push(closing[character] as string);
    else if (/["\])}]/.test(character)) this.fail();
    this.#at++;
  }
}

/** The text of a string; null for one with an escape that HCL does not have, which the service explains. */
function textOf(literal: string): string | null {
  const inner = literal.slice(1, -1);
  if (inner.replaceAll(escape, '').includes('\\')) return null;
  return inner.replaceAll(escape, (_, letter?: string, short?: string, long?: string) => {
    if (letter !== undefined) return controls[letter] ?? letter;
    const code = short ?? long;
    return code === undefined ? '' : String.fromCodePoint(Number.parseInt(code, 16));
  });
}

function variableOf(name: string, expression: string): TfvarsVariable {
  string.lastIndex = 0;
  const isString = string.exec(expression)?.[0] === expression;
  const text = isString ? textOf(expression) : null;
  return text === null ? { name, expression } : { name, text };
}

/**
 * @param shown how messages name the file
 * @returns the variables in the order of the file
 * @throws BadCall with the place of what does not belong in such a file: blocks, templates, a name for the second
 *   time, brackets and strings that do not end
 */
export function tfvarsOf(shown: string, file: string): TfvarsVariable[] {
  const reader = new Reader(shown, file);
  const variables = new Map<string, TfvarsVariable>();
  while (reader.take(blank) && !reader.isAtEnd) {
    const name = reader.take(beginning)?.[1];
    if (name === undefined || variables.has(name)) return reader.fail();
    variables.set(name, variableOf(name, reader.expression()));
  }
  return [...variables.values()];
}
