/** Header with the warnings of a reply, as sentences. */

/**
 * The reply header that holds one plain sentence per warning, separated by ` | `. A single line, because
 * clients join several lines with commas, which sentences contain.
 */
export const warningHeader = 'x-envarium-warning';

const separator = ' | ';

/**
 * @param sentences a vertical bar in them becomes a slash, and what a header cannot contain a question mark: they
 * may quote the request
 */
export function joinWarnings(sentences: readonly string[]): string {
  return sentences
    .map((sentence) => sentence.replaceAll('|', '/').replaceAll(/[^\x20-\x7e]/gu, '?'))
    .join(separator);
}

/** @param header as received; null: the reply had none */
export function splitWarnings(header: string | null): string[] {
  return (header ?? '')
    .split('|')
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
