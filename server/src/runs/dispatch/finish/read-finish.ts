/** Reads `finish` messages: large ones in a thread, so that others are answered meanwhile. */
import { askOnce, ThreadFailure, type ThreadProgram } from '#guards/threads/limited-thread.ts';
import { Refusal } from '../../../ground/errors.ts';
import { type FinishMessage, finishMessage } from './finish-message.ts';

/** Smaller ones take some milliseconds. */
const smallBytes = 1024 * 1024;

/** Its memory is more than the values that a message may have can need. */
const thread: ThreadProgram = {
  program: new URL('./finish-thread.ts', import.meta.url),
  seconds: 60,
  megabytes: 4096,
};

/**
 * @param bytes within the limits of the message; not usable afterwards
 * @throws Refusal 413 for a message that takes too long; SyntaxError or Error for text that is not JSON
 */
export async function readFinish(bytes: Buffer<ArrayBuffer>): Promise<FinishMessage> {
  if (bytes.length <= smallBytes) return finishMessage(bytes);
  try {
    return await askOnce<Uint8Array, FinishMessage>(thread, bytes, [bytes.buffer]);
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    throw new Refusal('payload_too_large', `The message cannot be read: ${error.message}`);
  }
}
