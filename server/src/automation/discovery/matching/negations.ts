/** Negated parts of a glob, such as `!(modules|test)`. */

export interface Negation {
  /** Position of the first character, and the one after the last. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly alternatives: readonly string[];
}

/** Splits what is between the parentheses. */
function alternativesOf(inner: string): string[] {
  const parts = [''];
  let depth = 0;
  for (let at = 0; at < inner.length; at++) {
    const character = inner[at] as string;
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === '|' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character === '\\' ? character + (inner[++at] ?? '') : character;
  }
  return parts;
}

/** The position after the parenthesis that closes the one at a position; null if there is none. */
function endOfGroup(globPattern: string, open: number): number | null {
  let depth = 0;
  for (let at = open; at < globPattern.length; at++) {
    const character = globPattern[at];
    if (character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return null;
}

/** In their order, without those inside of others. */
export function negationsOf(globPattern: string): Negation[] {
  const found: Negation[] = [];
  for (let at = 0; at < globPattern.length; at++) {
    if (globPattern[at] === '\\') at++;
    else if (globPattern.startsWith('!(', at)) {
      const end = endOfGroup(globPattern, at + 1);
      if (end === null) break;
      const text = globPattern.slice(at, end);
      found.push({ start: at, end, text, alternatives: alternativesOf(text.slice(2, -1)) });
      at = end - 1;
    }
  }
  return found;
}
