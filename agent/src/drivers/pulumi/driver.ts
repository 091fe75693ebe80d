/** The driver of Pulumi; tested with 3.259.0. */

import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { stackNameProblem } from '#protocol/tools/pulumi/variables.ts';
import { pulumi as facts } from '#protocol/tools/pulumi.ts';
import { variableRefusal } from '#protocol/tools/variable-refusals.ts';
import { maskJson } from '../../logs/mask.ts';
import { inputs, type PhaseCaptures } from '../interface/command.ts';
import type { Driver, DriverContext, PlanReading } from '../interface/driver.ts';
import { withoutLongTexts } from '../interface/plan-values.ts';
import { destroyDifference, updateDifference } from './approval.ts';
import { isOurs } from './backend.ts';
import {
  applyCommands,
  captured,
  environmentOf,
  pendingRemarks,
  planCommands,
  prepareCommands,
  stackBefore,
} from './commands.ts';
import { configurationFiles } from './configuration.ts';
import { pulumiDiagnostics, pulumiReason } from './diagnostics.ts';
import { readEvents } from './events.ts';
import { readOutputs } from './outputs.ts';
import { commonPlan } from './plan.ts';
import { hiddenInPreview } from './preview-check.ts';
import { pulumiProgress } from './progress.ts';
import { readProject } from './project.ts';
import { requiredVersions } from './required-versions.ts';
import { checkpointFiles, readState, retainedUrns, stacksFolder } from './state.ts';

function refusals(job: Job): string[] {
  const environment = runEnvironment(job);
  const name = stackNameProblem(job.workspaceName);
  const found = [
    ...Object.entries(environment).map(([key, value]) => variableRefusal(0, key, value, [facts])),
    ...job.variables.terraform.map(({ name: key, value }) => variableRefusal(1, key, value, [facts])),
    name === null ? null : `workspaceName ${name}`,
    ...job.targets
      .filter((target) => !target.startsWith('urn:'))
      .map((target) => `targets: ${JSON.stringify(target)} is not the URN of a resource`),
  ];
  return [...new Set(found.filter((text) => text !== null))];
}

async function readPlan(context: DriverContext, captures: PhaseCaptures): Promise<PlanReading> {
  const isDestroy = context.job.type === 'destroy';
  const saved = captures.get(inputs.saved);
  const bytes = (isDestroy ? saved : undefined) ?? captures.get(captured.preview);
  const events = readEvents(bytes ?? new Uint8Array());
  if (!events.some(({ summaryEvent }) => summaryEvent !== undefined))
    throw new Error(
      'pulumi has reported no end of its preview: the program called pulumi on this agent must be Pulumi',
    );
  const hidden = isDestroy || saved === undefined ? null : hiddenInPreview(saved, events);
  if (hidden !== null)
    throw new Error(
      `the preview has saved a plan that differs from what it has reported (${hidden}): a program of the run may have changed one of them`,
    );
  const reading = commonPlan(events, retainedUrns(stackBefore(context, captures)));
  return {
    ...reading,
    plan: withoutLongTexts(maskJson(reading.plan, context.job.secrets)),
    remarks: pendingRemarks(context, captures),
  };
}

function differing({ job }: DriverContext, captures: PhaseCaptures): string | null {
  const [approved, now] = [captures.get(inputs.approved), captures.get(captured.again)];
  return job.type === 'destroy' ? destroyDifference(approved, now) : updateDifference(approved, now);
}

/** Under this name, `inspected` has the name of the project. */
const projectCapture = 'project';

function projectIn(inspected: PhaseCaptures | undefined): string | null {
  const name = inspected?.get(projectCapture);
  return name === undefined ? null : new TextDecoder().decode(name);
}

async function findings({ tree }: Pick<DriverContext, 'tree'>): Promise<PhaseCaptures> {
  const { name } = await readProject(tree);
  return new Map([[projectCapture, Buffer.from(name)]]);
}

export const pulumi: Driver = {
  type: facts.type,
  programs: [facts.program.name, 'pulumi-language-yaml'],
  requiredVersions,
  refusals,
  warnings: async () => [],
  inspect: { commands: () => [], findings },
  files: configurationFiles,
  environment: environmentOf,
  prepare: prepareCommands,
  plan: planCommands,
  readPlan,
  apply: applyCommands,
  reason: pulumiReason,
  diagnostics: pulumiDiagnostics,
  state: {
    isOurs,
    read: readState,
    file: {
      elsewhere: async () => null,
      otherWorkspaces: async () => null,
      fileName: ({ job }) => `${stacksFolder}/${job.workspaceName}.json`,
      several: ({ job, inspected }) => checkpointFiles(job, projectIn(inspected)),
      // Pulumi retries until its state is written.
      rescueFile: '.envarium/no-rescued-state.json',
      taskFiles: () => [],
      checkPrepared: async () => null,
    },
  },
  savedPlan: { differing, isRead: true },
  progress: {
    // A line of the log may come from the program of the run: only the file of events counts.
    fromLog: () => ({ read: () => [] }),
    fromFile: pulumiProgress,
  },
  outputs: {
    read: (captures) => readOutputs(captures.get(captured.openOutputs), captures.get(captured.outputs)),
  },
};
