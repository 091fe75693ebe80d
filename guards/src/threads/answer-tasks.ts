/** The side of the thread: answers the tasks that a `LimitedThread` sends, one after another. */
import { parentPort, type Transferable } from 'node:worker_threads';

/** A thread's answer to one task. */
export type TaskReply<Answer> = { readonly value: Answer } | { readonly error: Error };

/**
 * Reports that the thread is ready, then answers each task. Errors are sent to the caller.
 * @param transferOf buffers of an answer that the thread no longer needs
 */
export function answerTasks<Task, Answer>(
  answer: (task: Task) => Answer | Promise<Answer>,
  transferOf: (answer: Answer) => readonly Transferable[] = () => [],
): void {
  const reply = async (task: Task): Promise<TaskReply<Answer>> => {
    try {
      return { value: await answer(task) };
    } catch (error) {
      return { error: error as Error };
    }
  };
  const send = (each: TaskReply<Answer>) =>
    parentPort?.postMessage(each, 'value' in each ? [...transferOf(each.value)] : []);
  parentPort?.on('message', (task: Task) => void reply(task).then(send));
  parentPort?.postMessage('ready');
}
