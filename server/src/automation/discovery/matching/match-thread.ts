/** A thread that evaluates one glob, started by `match-tree.ts`: a hostile glob may take forever or fill its memory. */
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import { compileGlob } from './compile-glob.ts';
import { explainExclusions } from './explain-exclusions.ts';
import { matchListing } from './match-listing.ts';
import type { Explanations, MatchAnswer, ThreadTask } from './match-tasks.ts';

answerTasks((task: ThreadTask): MatchAnswer | Explanations | null => {
  switch (task.kind) {
    case 'match':
      return matchListing(task.listing, task.rule);
    case 'explain':
      return explainExclusions(task.globPattern, task.files);
    case 'compile':
      compileGlob(task.globPattern);
      return null;
  }
});
