/** A thread that reads one discovery file, started by `parse-discovery-file.ts`: a hostile file expands to any size. */
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import { readDiscoveryFile } from './read-discovery-file.ts';

answerTasks(readDiscoveryFile);
