/** Where the log of the page is kept, decoded and searched, away from what the person sees moving. */
import { LogBook } from './store/log-book.ts';
import type { ToWorker } from './store/protocol.ts';

const book = new LogBook((message) => postMessage(message));
addEventListener('message', ({ data }: MessageEvent<ToWorker>) => book.take(data));
