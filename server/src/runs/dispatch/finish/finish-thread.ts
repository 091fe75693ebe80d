/** A thread that reads one `finish` message, started by `read-finish.ts`. */
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import { finishMessage } from './finish-message.ts';

answerTasks(finishMessage);
