/** Worker that keeps, decodes and searches the log of the page, away from the visible part. */
import { LogBook } from './store/log-book.ts';
import type { ToWorker } from './store/protocol.ts';

const book = new LogBook((message) => postMessage(message));
addEventListener('message', ({ data }: MessageEvent<ToWorker>) => book.take(data));
