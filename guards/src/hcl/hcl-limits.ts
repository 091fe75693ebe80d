/** Limits of HCL texts, which come from runs and third parties. The parser is WebAssembly with a stack of its own. */

const longestCharacters = 1_000_000;
const deepestLevels = 100;

/** Of a thread that parses them. */
export const hclThreadLimits = { seconds: 5, megabytes: 256 } as const;

/** The index of the end of a line. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/**
 * Maximum depth of nested brackets, without those in comments and strings. Templates in each other count at least
 * half of their levels: the quote inside one ends the string around it here.
 */
function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  let isString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string;
    if (isString) {
      if (character === '\\') index++;
      else if (character === '"' || character === '\n') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '#' || (character === '/' && text[index + 1] === '/'))
      index = lineEnd(text, index);
    else if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (')]}'.includes(character)) depth = Math.max(0, depth - 1);
  }
  return deepest;
}

/** @throws Error that says which limit the text exceeds */
export function checkHclLimits(text: string): void {
  if (text.length > longestCharacters) throw new Error(`it has more than ${longestCharacters} characters`);
  if (depthOf(text) > deepestLevels) throw new Error(`it is nested more than ${deepestLevels} levels deep`);
}
