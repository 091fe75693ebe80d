/** Checks globs without evaluating them. */
import { compileGlob } from './compile-glob.ts';

const longestCharacters = 10_000;

/** Between the borders of path segments, of which alternatives have some of their own. */
const parentSegment = /(?:^|[/(|,{])\.\.(?:$|[/)|,}])/;

const fromTheRoot = 'paths begin below the root of the repository';

const simpleProblems: readonly (readonly [(globPattern: string) => boolean, string])[] = [
  [(glob) => glob === '', 'must not be empty'],
  [(glob) => glob.length > longestCharacters, `must not have more than ${longestCharacters} characters`],
  [
    (glob) => /\s/.test(glob),
    'must not contain blanks or line breaks: separate alternatives by "|", and write "?" for a blank in a name',
  ],
  [(glob) => /\p{Cc}/u.test(glob), 'must not contain control characters'],
  [(glob) => glob.startsWith('/'), `must not begin with "/": ${fromTheRoot}`],
  [(glob) => parentSegment.test(glob), `must not contain "..": ${fromTheRoot}`],
];

/** A message without the regular expression that a glob becomes. */
function shortMessage({ message }: Error): string {
  const plain = message.replace(/^Invalid regular expression: \/.*\/\w*: /s, '').replaceAll(/\s+/g, ' ');
  return plain.length > 200 ? `${plain.slice(0, 199)}…` : plain;
}

/**
 * Takes time that grows with the square of the length: more than some milliseconds from 1,000 characters on.
 * @returns why a glob is not valid, as the rest of a sentence that begins with the field's name; null if it is
 */
export function globProblem(globPattern: string): string | null {
  for (const [isProblem, reason] of simpleProblems) if (isProblem(globPattern)) return reason;
  try {
    compileGlob(globPattern);
    return null;
  } catch (error) {
    return `is not a valid glob: ${shortMessage(error as Error)}`;
  }
}
