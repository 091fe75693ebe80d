/** Requests to a thread that parses HCL, and its replies. */
import { parseExactly } from '#contract/schema/exact-json.ts';

export interface HclFile {
  readonly name: string;
  readonly text: string;
}

interface HclProblem {
  readonly error: string;
}

/** As it comes from the thread: a message between threads would not keep the digits of numbers. */
export type HclMessage = HclProblem | { readonly json: string; readonly error?: undefined };

export type HclAnswer = HclProblem | { readonly body: Record<string, unknown>; readonly error?: undefined };

/** The body with numbers of all digits. */
export function readHclMessage(message: HclMessage): HclAnswer {
  return message.error === undefined
    ? { body: parseExactly(message.json) as Record<string, unknown> }
    : message;
}
