/** Texts of tools and policies as the database can store them. */

const replacement = '\uFFFD';

/**
 * A text that the database can store: PostgreSQL accepts neither NUL characters nor halves of characters.
 *
 * @param text any text
 * @returns the text, with a replacement character for each of them
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', replacement);
}
