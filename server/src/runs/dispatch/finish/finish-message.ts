/** What the service needs to know of a `finish` message, without objects as large as the message. Pure. */
import { createHash } from 'node:crypto';
import { type AttemptTimes, FinishRequest, type FinishRest } from '#protocol/messages/outcome.ts';
import { type ReceivedOutcome, receivedOutcome } from '../../../rows/deployments/outcome-columns.ts';
import { checkMessage, parseMessage } from '../messages/parse-message.ts';

export interface FinishMessage {
  readonly fence: unknown;
  /** An outcome is recognized by its hash even if it is not valid. */
  readonly sha256: string;
  readonly outcome: ReceivedOutcome | null;
  /** When the attempt came to its agent and left it, if the agent says so. */
  readonly times: AttemptTimes | null;
  /** What is stored before the outcome. */
  readonly rest: FinishRest;
  /** What is wrong with the message; null where it has an outcome. */
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
