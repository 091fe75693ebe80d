/** Checks globs before they are stored. */
import { askOnce, ThreadFailure } from '#guards/threads/limited-thread.ts';
import { globProblem } from './glob-problem.ts';
import { matchProgram } from './match-program.ts';
import type { CheckTask } from './match-tasks.ts';

/** Longer globs are checked in the thread: compiling may take seconds. */
const shortCharacters = 1000;

/**
 * @returns why a glob cannot be used, as the rest of a sentence that begins with "globPattern"; null if it can. It may
 *   still take too long for the paths of a repository, which a scan finds
 */
export async function globRefusal(globPattern: string): Promise<string | null> {
  if (globPattern.length <= shortCharacters) return globProblem(globPattern);
  try {
    return await askOnce<CheckTask, string | null>(matchProgram, { kind: 'check', globPattern });
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    return `is too complex: ${error.message}`;
  }
}
