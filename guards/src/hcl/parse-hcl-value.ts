/** Checks untrusted HCL values, in a thread with limits that is started again after it has failed. */
import { LimitedThread, ThreadFailure } from '../threads/limited-thread.ts';
import { constantOfBody, requireOneExpression } from './constant-value.ts';
import { fileOfExpression } from './expression.ts';
import { type HclAnswer, type HclFile, type HclMessage, readHclMessage } from './hcl-answer.ts';
import { checkHclLimits, hclThreadLimits } from './hcl-limits.ts';

const fileName = 'value.tfvars';

const thread = new LimitedThread<HclFile, HclMessage>(
  { program: new URL('./hcl-thread.ts', import.meta.url), ...hclThreadLimits },
  // A problem of the text names its place; any other failure may be the parser's last word.
  ({ error }) => error === undefined || error.includes(`${fileName}:`),
);

async function parse(file: HclFile): Promise<HclAnswer> {
  try {
    return readHclMessage(await thread.ask(file));
  } catch (error) {
    if (error instanceof ThreadFailure) return { error: `parsing failed: ${error.message}` };
    throw error;
  }
}

/**
 * Checks that a text is one HCL expression and nothing after it.
 * @param isEvaluated whether the tool that gets it evaluates it; others get constants only
 * @throws Error that says why it is not, or why a run could not use it
 */
export async function checkHclValue(text: string, isEvaluated = false): Promise<void> {
  checkHclLimits(text);
  const answer = await parse({ name: fileName, text: fileOfExpression(text) });
  if (answer.error !== undefined) throw new Error(answer.error);
  if (isEvaluated) requireOneExpression(answer.body);
  else constantOfBody(answer.body);
}
