/** The driver of stacks of AWS CloudFormation: change sets are its plans, and AWS keeps what exists. */
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { cloudformation as facts } from '#protocol/tools/cloudformation/facts.ts';
import { stackVariableNames, stackVariableProblem } from '#protocol/tools/cloudformation/variables.ts';
import { pathProblem } from '#protocol/tools/inputs/run-variables.ts';
import { variableRefusal } from '#protocol/tools/variable-refusals.ts';
import type { Driver } from '../interface/driver.ts';
import { compose, differing } from './approval.ts';
import { applyCommands, planCommands, prepareCommands } from './commands.ts';
import { stackDiagnostics, stackReason } from './diagnostics.ts';
import { readOutputs } from './outputs.ts';
import { readPlan } from './plan.ts';
import { stackProgress } from './progress.ts';
import { requestOf } from './request.ts';
import { requestFile } from './stacks/api/reports.ts';

function stackNameRefusal({ workspaceName }: Job): string | null {
  const refusal = facts.workspaceNameRefusal?.(workspaceName) ?? null;
  return refusal === null ? null : `workspaceName ${refusal}`;
}

function fileRefusal({ settings, source }: Job): string | null {
  const problem = pathProblem(settings?.fileName ?? '', normalizePath(source.path ?? ''));
  return problem === null ? null : `fileName: ${problem}`;
}

function refusals(job: Job): string[] {
  const environment = runEnvironment(job);
  const folder = normalizePath(job.source.path ?? '');
  const found = [
    stackNameRefusal(job),
    fileRefusal(job),
    ...Object.entries(environment).map(([name, value]) => variableRefusal(0, name, value, [facts])),
    ...Object.entries(environment).map(([name, value]) => stackVariableProblem(name, value, folder)),
    job.targets.length === 0 ? null : 'targets: CloudFormation deploys a stack as a whole; remove them',
  ];
  return [...new Set(found.filter((text) => text !== null))];
}

async function warnings({ job }: { readonly job: Job }): Promise<string[]> {
  if (job.type !== 'destroy' || !runEnvironment(job)[stackVariableNames.continuesRollback]) return [];
  return [`${stackVariableNames.continuesRollback} has no effect on a destroy.`];
}

export const cloudformation: Driver = {
  type: facts.type,
  programs: [facts.program.name],
  refusals,
  warnings,
  files: async ({ job }) => [
    { name: requestFile, content: `${JSON.stringify(await requestOf(job))}\n`, isSecret: true },
  ],
  environment: () => ({}),
  prepare: prepareCommands,
  plan: planCommands,
  readPlan,
  isPlanLogged: true,
  apply: applyCommands,
  reason: stackReason,
  diagnostics: stackDiagnostics,
  savedPlan: { compose, differing },
  progress: { fromLog: stackProgress },
  outputs: { read: readOutputs },
};
