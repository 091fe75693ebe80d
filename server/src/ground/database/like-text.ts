/** `%`, `_` and `\` of a user's text are matched literally in LIKE. */
export function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/g, (character) => `\\${character}`);
}
