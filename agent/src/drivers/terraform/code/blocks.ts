/**
 * Blocks and attributes of HCL without their meaning, for code that is read often: in a hundredth of the time that a
 * parser takes to start. The rules are those of the HCL native syntax specification (lexical elements, structural elements).
 */

/** An attribute, or a block with its labels. */
export interface HclElement {
  readonly name: string;
  /** Quoted as in the code. */
  readonly labels: readonly string[];
  /** Without comments: of the expression of an attribute, or of what is between the braces of a block. */
  readonly tokens: readonly string[];
}

const simpleToken = /[^\S\n]+|\n|[\p{ID_Continue}-]+|<<-?(?=[\p{ID_Start}_])|[^]/uy;
const heredocName = /[\p{ID_Start}_][\p{ID_Continue}-]*(?=\r?\n)/uy;
const maxDepth = 100;

/** @returns the place after a text */
function after(text: string, searched: string, from: number): number {
  const at = text.indexOf(searched, from);
  if (at === -1) throw new Error(`The text has no ${searched} from character ${from} on`);
  return at + searched.length;
}

function match(expression: RegExp, text: string, at: number): string {
  expression.lastIndex = at;
  return expression.exec(text)?.[0] ?? '';
}

class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Tokens up to the end of the text, or up to the brace that closes an interpolation. */
  tokens(isInterpolation: boolean): string[] {
    const found: string[] = [];
    let open = 0;
    while (this.#at < this.#text.length) {
      const token = this.#next();
      if (token === '{') open += 1;
      if (token === '}' && open-- === 0) {
        if (isInterpolation) return found;
        throw new Error('The text has a brace that closes nothing');
      }
      if (token !== '') found.push(token);
    }
    if (isInterpolation || open > 0) throw new Error('The text has a brace that is not closed');
    return found;
  }

  /** A token, or nothing for a comment or space. */
  #next(): string {
    const start = this.#at;
    const two = this.#text.slice(start, start + 2);
    if (two === '/*') this.#at = after(this.#text, '*/', start + 2);
    else if (two.startsWith('#') || two === '//') this.#skipLine();
    else if (two.startsWith('"')) return this.#quoted(start);
    else {
      const token = match(simpleToken, this.#text, start);
      this.#at = start + token.length;
      if (token.startsWith('<<')) return this.#heredoc(start);
      return token === '\n' || token.trim() !== '' ? token : '';
    }
    return '';
  }

  /** The line end stays: it ends an attribute. */
  #skipLine(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  #quoted(start: number): string {
    this.#at = start + 1;
    for (;;) {
      const sign = this.#text[this.#at];
      if (sign === undefined || sign === '\n') throw new Error('The text has a string that is not closed');
      if (sign === '\\') this.#at += 2;
      else if (!this.#skipInterpolation()) this.#at += 1;
      if (sign === '"') return this.#text.slice(start, this.#at);
    }
  }

  #heredoc(start: number): string {
    const name = match(heredocName, this.#text, this.#at);
    if (name === '') throw new Error('The text has a heredoc without a name');
    this.#at = after(this.#text, '\n', this.#at);
    for (;;) {
      const end = match(/[^\S\n]*[\p{ID_Continue}-]+(?=[^\S\n]*(?:\n|$))/uy, this.#text, this.#at);
      if (end.trim() === name) {
        this.#at += end.length;
        return this.#text.slice(start, this.#at);
      }
      while (this.#text[this.#at] !== '\n') {
        if (this.#at >= this.#text.length) throw new Error('The text has a heredoc that is not closed');
        if (!this.#skipInterpolation()) this.#at += 1;
      }
      this.#at += 1;
    }
  }

  /** Passes over `${…}`, `%{…}` and their escapes, if one begins here. */
  #skipInterpolation(): boolean {
    const three = this.#text.slice(this.#at, this.#at + 3);
    if (three === '$${' || three === '%%{') this.#at += 3;
    else if (three.startsWith('${') || three.startsWith('%{')) {
      if (++this.#depth > maxDepth) throw new Error('The text nests too deeply');
      this.#at += 2;
      this.tokens(true);
      this.#depth -= 1;
    } else return false;
    return true;
  }
}

/** The place after the end of an expression or a block, which ends with a line end or a brace outside of brackets. */
function endOf(tokens: readonly string[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (depth === 0 && (token === '\n' || token === '}')) return at;
    if (/^[{([]$/.test(token)) depth += 1;
    if (/^[})\]]$/.test(token)) depth -= 1;
  }
  return tokens.length;
}

/** Elements of the body of a block. @throws if the body has something else */
export function elementsOf(tokens: readonly string[]): HclElement[] {
  const elements: HclElement[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const name = tokens[at] ?? '';
    if (name === '\n') continue;
    if (!/^[\p{ID_Start}_]/u.test(name)) throw new Error(`The text has ${name} instead of a name`);
    const end = endOf(tokens, at);
    const rest = tokens.slice(at + 1, end);
    if (rest[0] === '=') elements.push({ name, labels: [], tokens: rest.slice(1) });
    else {
      const open = rest.indexOf('{');
      if (open === -1 || rest.at(-1) !== '}') throw new Error(`The text has no block after ${name}`);
      elements.push({ name, labels: rest.slice(0, open), tokens: rest.slice(open + 1, -1) });
    }
    at = end;
  }
  return elements;
}

/** Space that HCL and JavaScript count differently, at the ends of heredocs, for example. */
const unusualSpace = /[\v\f\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]/;

/** Elements of a file. @throws for some texts that are not HCL, not for all, and for some with unusual space */
export function hclElements(text: string): HclElement[] {
  if (unusualSpace.test(text)) throw new Error('The text has unusual space');
  return elementsOf(new Scanner(text).tokens(false));
}
