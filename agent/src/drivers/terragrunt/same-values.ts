/** Has terragrunt's plans and applies start the tool with a check ahead of it: an apply gets the values of its plan. */
import { join } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import type { Command } from '../interface/command.ts';
import { binaryName, planName, rulesOf, usesTofu } from './settings.ts';

/**
 * Folder of the saved plan of a single unit, with its values.
 * @param file absolute path of that folder
 */
export function singlePlan(job: Job, file: string): string {
  return join(file, planName(job, '.'));
}

/**
 * Additional arguments of a command that plans or applies.
 * @param file absolute path of the folder of the plans
 */
export function withSameValues(job: Job, file: string): Pick<Command, 'wraps'> {
  const wraps = {
    program: binaryName(job),
    variable: 'TG_TF_PATH',
    verbs: ['plan', 'apply'],
    role: 'unit-values',
    // Of other variables, terraform itself uses the values of the plan.
    args: [usesTofu(job) ? 'all' : 'ephemeral', JSON.stringify(rulesOf(job)), file],
  } as const;
  return { wraps };
}
