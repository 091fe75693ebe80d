/** The side of the thread: answers the tasks that a `LimitedThread` sends, one after another. */
import { parentPort } from 'node:worker_threads';

/** A thread's answer to one task. */
export type Reply<Answer> = { readonly value: Answer } | { readonly error: Error };

/** Reports that the thread is ready, then answers each task. Errors are sent to the caller. */
export function answerTasks<Task, Answer>(answer: (task: Task) => Answer | Promise<Answer>): void {
  const reply = async (task: Task): Promise<Reply<Answer>> => {
    try {
      return { value: await answer(task) };
    } catch (error) {
      return { error: error as Error };
    }
  };
  parentPort?.on('message', (task: Task) => void reply(task).then((each) => parentPort?.postMessage(each)));
  parentPort?.postMessage('ready');
}
