/** A thread for work on large states, started by `read-state.ts` and `compare-versions.ts`. */
import { type ByteRange, JsonScan } from '#guards/json-bytes.ts';
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import type { StateFacts } from '#protocol/tools/tool.ts';
import { type ComparisonAnswer, type ComparisonTask, StateComparer } from './state-comparer.ts';
import { type ReadMode, readState } from './state-formats.ts';

/** About one state, whose bytes come back with the answer. */
interface AboutState {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly reading: ReadMode;
}

/** All steps of a comparison are tasks of one thread, which compares nothing else. */
export type StateTask = AboutState | { readonly comparison: ComparisonTask };

export interface AnswerAboutState {
  readonly facts: StateFacts;
  readonly serialPlace: ByteRange;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Parsing more could need more memory than the thread has, which would end the service. */
const limits = { depth: Number.POSITIVE_INFINITY, values: 5_000_000 };

const comparer = new StateComparer();
const comparedScan = new JsonScan(limits);

function compare(task: ComparisonTask): ComparisonAnswer {
  // A state that comes again was counted before.
  const problem = task.step === 'beforeAgain' ? null : comparedScan.push(task.bytes);
  if (problem)
    return {
      problem: `One of the two states, or both together, ${problem.message}, too many to be compared here: download both`,
    };
  return comparer.take(task);
}

function answer(task: StateTask): AnswerAboutState | ComparisonAnswer {
  if ('comparison' in task) return compare(task.comparison);
  const problem = new JsonScan(limits).push(task.bytes);
  if (problem) throw new Error(`the state ${problem.message}`);
  return { ...readState(task.reading, task.bytes), bytes: task.bytes };
}

answerTasks(answer, (each) => ('bytes' in each ? [each.bytes.buffer] : []));
