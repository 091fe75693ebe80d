/**
 * The program that works with stacks of AWS CloudFormation, as a role of the agent's own program. Runs start it with
 * their own rights, as they start tools: `cloudformation <verb> <file with the request>`. What was approved is on its
 * standard input; its report is JSON on standard output, and lines for people are on standard error.
 */
import { readFileSync } from 'node:fs';
import { type Api, explain, openClient, StackProblem } from './api/api.ts';
import { errorMark, type ResourceVerb, type StackRequest, verbs } from './api/reports.ts';
import { tell } from './api/tell.ts';
import { createChangeSet } from './create-change-set.ts';
import { deleteStack } from './delete-stack.ts';
import { describeChangeSet } from './describe-change-set.ts';
import { describeOutputs } from './describe-outputs.ts';
import { detectDrift } from './detect-drift.ts';
import { executeChangeSet } from './execute-change-set.ts';
import { planDeletion } from './plan-deletion.ts';
import { validate } from './validate.ts';

/** @returns the report, if there is one */
const works = {
  validate,
  'create-change-set': createChangeSet,
  'describe-change-set': describeChangeSet,
  'execute-change-set': executeChangeSet,
  'describe-outputs': describeOutputs,
  'detect-drift': detectDrift,
  'plan-deletion': planDeletion,
  'delete-stack': deleteStack,
} as const satisfies Record<ResourceVerb, (api: Api) => Promise<unknown>>;

const longestInput = 10_000_000;

function inputText(): string {
  try {
    return readFileSync(0, 'utf8').slice(0, longestInput);
  } catch {
    // Nothing is connected.
    return '';
  }
}

async function run(verb: string | undefined, file: string | undefined): Promise<void> {
  const known = verbs.find((each) => each === verb);
  if (known === undefined || file === undefined)
    throw new StackProblem(`this program is started by runs only, with ${verbs.join(', ')} and a file`);
  const request = JSON.parse(readFileSync(file, 'utf8')) as StackRequest;
  const report: unknown = await works[known]({ client: openClient(), request, approved: inputText() });
  if (report !== undefined) process.stdout.write(`${JSON.stringify(report)}\n`);
}

/** Does what the arguments of the process say. */
export async function runStacks(): Promise<void> {
  const [, , , verb, file] = process.argv;
  try {
    await run(verb, file);
  } catch (error) {
    tell(`${errorMark}${explain(error)}`);
    process.exitCode = 1;
  }
}
