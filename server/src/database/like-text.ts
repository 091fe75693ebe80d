/** `%`, `_` and `\` of a user's text stand for themselves in LIKE. */
export function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/g, (character) => `\\${character}`);
}
