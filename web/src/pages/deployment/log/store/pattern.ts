/** Search text of a person. */

export interface SearchText {
  readonly text: string;
  readonly isRegex: boolean;
  readonly isCaseSensitive: boolean;
}

/** A regular expression that finds it, and whether it can be used on many lines at once. */
export interface Pattern {
  readonly regex: RegExp;
  readonly isLiteral: boolean;
}

/** Whole characters where the expression allows it: people also write what only the older form accepts. */
function regexOf(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    return new RegExp(source, flags);
  }
}

/** @throws SyntaxError for what cannot be read as a regular expression */
export function patternOf({ text, isRegex, isCaseSensitive }: SearchText): Pattern {
  const source = isRegex ? text : text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return { regex: regexOf(source, isCaseSensitive ? 'g' : 'gi'), isLiteral: !isRegex };
}

/** Start and end of each hit in a text, one after the other; an empty match does not count. */
export function hitsIn({ regex }: Pattern, text: string, most = Number.POSITIVE_INFINITY): number[] {
  const hits: number[] = [];
  regex.lastIndex = 0;
  for (let match = regex.exec(text); match && hits.length < 2 * most; match = regex.exec(text)) {
    if (match[0] === '') regex.lastIndex++;
    else hits.push(match.index, match.index + match[0].length);
  }
  return hits;
}
