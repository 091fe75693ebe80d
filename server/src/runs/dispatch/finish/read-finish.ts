/** Reads `finish` messages: large ones in a thread, so that other requests are answered in the meantime. */
import { createHash } from 'node:crypto';
import { askOnce, ThreadFailure, type ThreadProgram } from '#guards/threads/limited-thread.ts';
import { type AttemptTimes, FinishRequest, type FinishRest } from '#protocol/messages/outcome.ts';
import { Refusal } from '../../../ground/errors.ts';
import { type ReceivedOutcome, receivedOutcome } from '../../../rows/deployments/outcome-columns.ts';
import { checkMessage, parseMessage } from '../messages/parse-message.ts';

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

export interface FinishMessage {
  readonly fence: unknown;
  /** An outcome is recognized by its hash even if it is not valid. */
  readonly sha256: string;
  readonly outcome: ReceivedOutcome | null;
  /** When the attempt came to its agent and left it, if the agent says so. */
  readonly times: AttemptTimes | null;
  /** Data to store before the outcome. */
  readonly rest: FinishRest;
  /** Problem of the message; null if it has an outcome. */
  readonly problem: string | null;
}

const check = checkMessage(FinishRequest);

/** @throws SyntaxError for text that is not JSON */
export function finishMessage(bytes: Uint8Array): FinishMessage {
  const message = parseMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  const { fence, outcome = null } = (message ?? {}) as Partial<FinishRequest>;
  const sha256 = createHash('sha256').update(JSON.stringify(outcome)).digest('hex');
  const problem = check(message);
  const valid = problem === null ? (message as FinishRequest) : null;
  return {
    fence: typeof fence === 'number' ? fence : null,
    sha256,
    outcome: valid && receivedOutcome(valid.outcome),
    times: valid?.times ? { receivedAt: valid.times.receivedAt, sentAt: valid.times.sentAt } : null,
    rest: valid?.rest ?? {},
    problem,
  };
}
