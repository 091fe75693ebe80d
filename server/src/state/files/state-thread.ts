/** A thread for work on large states, started by `read-state.ts` and `compare-versions.ts`. */
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import type { StateFacts } from '#protocol/tools/tool.ts';
import { JsonScan } from '../../http/json-scan.ts';
import { type ComparisonAnswer, type ComparisonTask, compareFiles } from './compare-states.ts';
import { type Reading, readIn } from './state-formats.ts';
import { type Place, topLevelPlace } from './top-level-fields.ts';

/** About one state, whose bytes come back with the answer. */
type AboutState = { readonly bytes: Uint8Array<ArrayBuffer> } & (
  | { readonly reading: Reading }
  | { readonly placeOf: string }
);

export type StateTask = AboutState | { readonly comparison: ComparisonTask };

export interface StateAnswer<Found> {
  readonly found: Found;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Parsing more could need more memory than the thread has, which would end the service. */
const limits = { depth: Number.POSITIVE_INFINITY, values: 5_000_000 };

function compare(task: ComparisonTask): ComparisonAnswer {
  try {
    const scan = new JsonScan(limits, 'One of the two states, or both together,');
    for (const bytes of [task.before, task.after]) scan.push(bytes);
  } catch (error) {
    return { problem: `${(error as Error).message}, too many to be compared here: download both` };
  }
  return compareFiles(task);
}

function find(task: AboutState): StateFacts | Place {
  if ('placeOf' in task) return topLevelPlace(task.bytes, task.placeOf);
  new JsonScan(limits, 'the state').push(task.bytes);
  return readIn(task.reading, task.bytes);
}

function answer(task: StateTask): StateAnswer<StateFacts | Place> | ComparisonAnswer {
  if ('comparison' in task) return compare(task.comparison);
  return { found: find(task), bytes: task.bytes };
}

answerTasks(answer, (each) => ('bytes' in each ? [each.bytes.buffer] : []));
