/** Finds the folders of a commit that discovery makes environments of, in a thread with limits. */
import { LimitedThread, ThreadFailure } from '#guards/threads/limited-thread.ts';
import { matchProgram } from './match-program.ts';
import type {
  Explanations,
  MatchAnswer,
  MatchedTree,
  MatchRule,
  PassedOverFolder,
  ThreadTask,
  UnmatchedFolder,
} from './match-tasks.ts';

export { globRefusal } from './glob-refusal.ts';
export type { MatchedFolder, MatchedTree, MatchRule, PassedOverFolder } from './match-tasks.ts';

type MatchThread = LimitedThread<ThreadTask, MatchAnswer | Explanations>;

/** A view of a part of a buffer is copied, because the rest of the buffer may belong to others. */
function transferable(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = piece;
  return buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(piece);
}

function isUnmatched(each: PassedOverFolder | UnmatchedFolder): each is UnmatchedFolder {
  return 'files' in each;
}

/** Explanations are worth less than the result: those that take too long are left out. */
async function explanationsOf(
  thread: MatchThread,
  globPattern: string,
  files: readonly (readonly string[])[],
): Promise<Explanations> {
  try {
    return (await thread.ask({ kind: 'explain', globPattern, files })) as Explanations;
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    return files.map(([file = '']) => ({ file, reason: `globPattern does not match ${file}` }));
  }
}

async function explain(
  thread: MatchThread,
  globPattern: string,
  passedOver: MatchAnswer['passedOver'],
): Promise<PassedOverFolder[]> {
  const files = passedOver.filter(isUnmatched).map((each) => each.files);
  const explanations = files.length === 0 ? [] : await explanationsOf(thread, globPattern, files);
  let next = 0;
  return passedOver.map((each) =>
    isUnmatched(each) ? { folder: each.folder, ...(explanations[next++] as Explanations[number]) } : each,
  );
}

function sentenceOf(error: Error): string {
  if (!(error instanceof ThreadFailure)) return error.message;
  const [, limit] = /^it takes (.*)$/.exec(error.message) ?? [];
  return limit === undefined
    ? `globPattern cannot be evaluated: ${error.message}`
    : `globPattern takes ${limit} to evaluate: use fewer alternatives, and no repetition inside of another one, such as +(*(…))`;
}

/**
 * @param listing output of `git ls-tree -r -t -z <commit>`, in pieces: not usable afterwards, as the thread receives it
 * @throws Error with a sentence for people when the glob takes too long, matches too much or is not valid, or the
 *   listing cannot be read; the reason of the signal when it is aborted
 */
export async function matchTree(
  listing: readonly Uint8Array[],
  rule: MatchRule,
  signal: AbortSignal,
): Promise<MatchedTree> {
  signal.throwIfAborted();
  await using thread: MatchThread = new LimitedThread(matchProgram);
  const end = () => void thread[Symbol.asyncDispose]();
  signal.addEventListener('abort', end, { once: true });
  try {
    const pieces = listing.map(transferable);
    const buffers = pieces.map(({ buffer }) => buffer);
    const answer = (await thread.ask({ kind: 'match', listing: pieces, rule }, buffers)) as MatchAnswer;
    signal.throwIfAborted();
    return { ...answer, passedOver: await explain(thread, rule.globPattern, answer.passedOver) };
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(sentenceOf(error as Error), { cause: error });
  } finally {
    signal.removeEventListener('abort', end);
  }
}
