/** Questions to a person at a terminal, on standard error. */

import { currentProcess } from './current-process.ts';
import { safeText } from './safe-text.ts';

/** A person ended the questions with Ctrl-C. */
export class Interrupted extends Error {
  constructor() {
    super('Interrupted: nothing was done.');
  }
}

/** Whether there is a person to ask. */
export function canAsk(): boolean {
  return currentProcess().stdin.isTTY && currentProcess().stderr.isTTY;
}

/** Answer of a person. @throws Interrupted */
export function answered<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (typeof answer === 'symbol') throw new Interrupted();
  return answer as Exclude<Answer, symbol>;
}

/** A question with the answers yes and no, the default being no. @throws Interrupted */
export async function confirm(message: string): Promise<boolean> {
  const prompts = await import('@clack/prompts');
  return answered(
    await prompts.confirm({
      message: safeText(message),
      initialValue: false,
      output: currentProcess().stderr,
    }),
  );
}
