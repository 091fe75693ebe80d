/** Globs of discovery: extended globs as `micromatch` reads them, by its own matcher, `picomatch`. */
import picomatch from 'picomatch';

export interface GlobOptions {
  /** Whether wildcards also match names that begin with a dot. */
  readonly matchesHidden?: boolean;
}

/** Values of a range such as {1..20}. */
const mostRangeValues = 1000;

/**
 * The library reads `**` in front of a `|` as `*`. People write `+(dev/**|prod/**)` and mean all levels, as they get
 * them in front of the closing parenthesis.
 */
function withWholeAlternatives(globPattern: string): string {
  return globPattern.replaceAll(/(^|[/(|])\*\*(?=\|)/g, '$1(**)');
}

function escapeForRegex(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** The numbers or letters of a range as a group of a regular expression: the library reads {1..12} as [1-12]. */
function rangeGroup(from: string, to: string, step = '1'): string {
  const isNumeric = [from, to, step].every((each) => /^-?\d{1,9}$/.test(each));
  const isLetters = /^[a-z]$/i.test(from) && /^[a-z]$/i.test(to) && /^\d{1,2}$/.test(step);
  if (!isNumeric && !isLetters) return escapeForRegex(`{${from}..${to}}`);
  const [first, last] = isNumeric ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const distance = Math.max(1, Math.abs(Number(step)));
  const count = Math.floor(Math.abs(last - first) / distance) + 1;
  if (count > mostRangeValues)
    throw new Error(`{${from}..${to}} stands for more than ${mostRangeValues} values`);
  const width = [from, to].some((each) => /^-?0\d/.test(each)) ? Math.max(from.length, to.length) : 0;
  const values = Array.from(
    { length: count },
    (_, index) => first + Math.sign(last - first) * distance * index,
  );
  const texts = values.map((value) => (isNumeric ? padded(value, width) : String.fromCharCode(value)));
  return `(?:${texts.join('|')})`;
}

function padded(value: number, width: number): string {
  const digits = String(Math.abs(value)).padStart(value < 0 ? width - 1 : width, '0');
  return value < 0 ? `-${digits}` : digits;
}

/**
 * @returns whether a path below the root of the repository matches
 * @throws Error that says why the glob is not valid
 */
export function compileGlob(
  globPattern: string,
  { matchesHidden = false }: GlobOptions = {},
): (path: string) => boolean {
  const options = {
    windows: false,
    dot: matchesHidden,
    strictBrackets: true,
    // Or else a glob that may take long is read as a text without wildcards. The time is limited instead.
    maxExtglobRecursion: false,
    // Or else a regular expression that is not valid matches nothing.
    debug: true,
    expandRange: (...range: unknown[]) => {
      const [from = '', to = '', step] = range.filter((each) => typeof each === 'string');
      return rangeGroup(from, to, step);
    },
  };
  const isMatch = picomatch(withWholeAlternatives(globPattern), options);
  return (path) => isMatch(path);
}
