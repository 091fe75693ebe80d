/** Colours of a log at a position, as the shortest sequences that switch them on again. */

const sgr = /\x1b\[([\d;]*)m/g;

/** Effect of a code; codes of the same kind replace each other. */
function kindOf(code: number): string | undefined {
  if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) return 'color';
  if ((code >= 40 && code <= 49) || (code >= 100 && code <= 107)) return 'background';
  if (code === 1 || code === 2 || code === 21 || code === 22) return 'weight';
  if (code === 3 || code === 23) return 'slant';
  return code === 4 || code === 24 ? 'line' : undefined;
}

const offs = new Set([39, 49, 21, 22, 23, 24]);

/** Number of codes that belong together: colours by number or by parts have parameters of their own. */
function lengthOf(codes: readonly string[], at: number): number {
  if (codes[at] !== '38' && codes[at] !== '48') return 1;
  return codes[at + 1] === '5' ? 3 : codes[at + 1] === '2' ? 5 : 2;
}

/**
 * The style after a text.
 * @param before sequences that switch on the style before it
 * @param text with any sequences
 */
export function styleAfter(before: string, text: string): string {
  const style = new Map<string, string>();
  for (const [, parameters = ''] of `${before}${text}`.matchAll(sgr)) {
    const codes = parameters.split(';');
    for (let at = 0; at < codes.length; at += lengthOf(codes, at)) {
      const code = Number(codes[at]);
      const kind = kindOf(code);
      if (code === 0) style.clear();
      else if (kind === undefined) continue;
      else if (offs.has(code)) style.delete(kind);
      else style.set(kind, codes.slice(at, at + lengthOf(codes, at)).join(';'));
    }
  }
  return [...style.values()].map((codes) => `\x1b[${codes}m`).join('');
}
