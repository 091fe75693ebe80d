/** Checks globs before they are stored. */
import { LimitedThread, ThreadFailure } from '#guards/threads/limited-thread.ts';
import { compileGlob } from './compile-glob.ts';
import { matchProgram } from './match-program.ts';
import type { CompileTask } from './match-tasks.ts';

const longestCharacters = 10_000;

/** Compiling longer ones may take more than some milliseconds, which grow with the square of the length. */
const shortCharacters = 1000;

/** Between the borders of path segments, of which alternatives have some of their own. */
const parentSegment = /(?:^|[/(|,{])\.\.(?:$|[/)|,}])/;

const fromTheRoot = 'paths begin below the root of the repository';

const simpleRefusals: readonly (readonly [(globPattern: string) => boolean, string])[] = [
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
function problemOf({ message }: Error): string {
  const plain = message.replace(/^Invalid regular expression: \/.*\/\w*: /s, '').replaceAll(/\s+/g, ' ');
  return plain.length > 200 ? `${plain.slice(0, 199)}…` : plain;
}

async function compileInThread(globPattern: string): Promise<void> {
  await using thread = new LimitedThread<CompileTask, null>(matchProgram);
  await thread.ask({ kind: 'compile', globPattern });
}

/**
 * @returns why a glob cannot be used, as the rest of a sentence that begins with "globPattern"; null if it can. It may
 *   still take too long for the paths of a repository, which a scan finds
 */
export async function globRefusal(globPattern: string): Promise<string | null> {
  for (const [isRefused, reason] of simpleRefusals) if (isRefused(globPattern)) return reason;
  try {
    if (globPattern.length > shortCharacters) await compileInThread(globPattern);
    else compileGlob(globPattern);
    return null;
  } catch (error) {
    if (error instanceof ThreadFailure) return `is too complex: ${error.message}`;
    return `is not a valid glob: ${problemOf(error as Error)}`;
  }
}
