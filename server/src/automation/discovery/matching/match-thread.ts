/** A thread that evaluates one glob, started by `match-tree.ts`: a hostile glob may take forever or fill its memory. */
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import { explainExclusions } from './explain-exclusions.ts';
import { globProblem } from './glob-problem.ts';
import { matchListing } from './match-listing.ts';
import type { Explanations, MatchAnswer, ThreadTask } from './match-tasks.ts';

answerTasks((task: ThreadTask): MatchAnswer | Explanations | string | null => {
  switch (task.kind) {
    case 'match':
      return matchListing(task.listing, task.rule);
    case 'explain':
      return explainExclusions(task.globPattern, task.files);
    case 'check':
      return globProblem(task.globPattern);
  }
});
