/** Variables of a run that its tool can have: those of wide scopes may be meant for environments of another tool. */
import type { Job } from '../messages/job.ts';
import type { ToolFacts } from './tool.ts';

export interface UsableVariables {
  readonly variables: Job['variables'];
  /** Why each of the others cannot be a variable of the tool; begins with its name. */
  readonly leftOut: readonly string[];
}

/** Leaves out variables of the code that the tool can have under no such name. Environment variables reach every tool. */
export function usableVariables(
  { variables }: Pick<Job, 'variables'>,
  { variableRefusal }: Pick<ToolFacts, 'variableRefusal'>,
): UsableVariables {
  const refusals = new Map(
    variables.terraform.map((each) => [each, variableRefusal(1, each.name, each.value)]),
  );
  const terraform = variables.terraform.filter((each) => refusals.get(each) === null);
  return {
    variables: { ...variables, terraform },
    leftOut: [...refusals.values()].filter((refusal) => refusal !== null),
  };
}
