/** Texts of single HCL expressions, such as values of variables. */

/** Whitespace and comments. Each text matches in one way, so that no text takes long. */
const nothing = String.raw`(?:\s|(?:#|//)[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/)*`;
const beginning = new RegExp(`^${nothing}`);
const scalar = new RegExp(String.raw`^("(?:[^"\\$%\n]|\\.)*"|[\w.+-]+)${nothing}$`);

/** An expression without the comments and empty lines at its beginning. */
export function withoutBeginning(text: string): string {
  return text.slice(beginning.exec(text)?.[0].length ?? 0);
}

/**
 * The file that is parsed for an expression. The tools read one as if it were in parentheses: it may begin with comments
 * and empty lines, which a file may not have in this place. A comment of as many lines keeps those of messages.
 */
export function fileOfExpression(text: string): string {
  const expression = withoutBeginning(text);
  const lines =
    text
      .slice(0, text.length - expression.length)
      .match(/\n/g)
      ?.join('') ?? '';
  return `value = ${lines === '' ? '' : `/*${lines}*/ `}${expression}\n`;
}

/** The number, word or text in quotes that is all of an expression, without comments; undefined for any other. */
export function scalarOf(text: string): string | undefined {
  return scalar.exec(withoutBeginning(text))?.[1];
}
