/** A thread that reads one `finish` message, started by `read-finish.ts`. */
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import { finishMessage } from './read-finish.ts';

answerTasks(finishMessage);
