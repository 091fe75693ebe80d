/** The driver of Ansible: a playbook that check mode plans, and no state. */

import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { ansible as facts } from '#protocol/tools/ansible.ts';
import { ansibleVariableNames, ansibleVariableProblem } from '#protocol/tools/ansible-variables.ts';
import { variableRefusal } from '#protocol/tools/variable-refusals.ts';
import { maskJson } from '../../logs/mask.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { Driver, DriverContext, PlanReading } from '../interface/driver.ts';
import { withoutLongTexts } from '../interface/plan-values.ts';
import { playbookOf, variablesOf } from './code.ts';
import { applyCommands, capturedEvents, environmentOf, planCommands, prepareCommands } from './commands.ts';
import { ansibleDiagnostics, ansibleReason } from './diagnostics.ts';
import { filesOf, nothingToRun } from './files.ts';
import { outputsOf } from './outputs.ts';
import { checkedPlan, unknownPlan } from './plan.ts';
import { playbookProgress } from './progress.ts';
import { installedVersions } from './versions.ts';

const notChecked = `${ansibleVariableNames.skipsCheck} is set: nothing was checked, and what the playbook changes is unknown`;

function refusals(job: Job): string[] {
  const environment = runEnvironment(job);
  const folder = normalizePath(job.source.path ?? '');
  const found = [
    ...Object.entries(environment).map(([name, value]) => variableRefusal(0, name, value, [facts])),
    ...job.variables.terraform.map(({ name, value }) => variableRefusal(1, name, value, [facts])),
    ...Object.entries(environment).map(([name, value]) => ansibleVariableProblem(name, value, folder)),
    job.targets.length === 0
      ? null
      : 'targets: Ansible has no addresses of resources; use ANSIBLE_CLI_limit for hosts, or ANSIBLE_CLI_tags',
  ];
  if (job.type === 'driftDetection' && variablesOf(job).skipsCheck)
    found.push(
      `${ansibleVariableNames.skipsCheck} is set, and a drift run consists of the check: remove the variable, or switch drift detection off`,
    );
  return [...new Set(found.filter((text) => text !== null))];
}

async function warnings({ job, tree }: Pick<DriverContext, 'job' | 'tree'>): Promise<string[]> {
  const found: string[] = [];
  if (job.type === 'destroy' && (await playbookOf({ job, tree })) === null)
    found.push(`This destroy runs nothing, because ${nothingToRun}.`);
  if (variablesOf(job).skipsCheck && job.type !== 'task') found.push(`${notChecked}.`);
  return found;
}

async function readPlan(context: DriverContext, captures: PhaseCaptures): Promise<PlanReading> {
  const { job, tree } = context;
  const reading = await plannedOf(context, captures);
  return {
    ...reading,
    plan: withoutLongTexts(maskJson(reading.plan, job.secrets)),
    moduleVersions: await installedVersions(tree),
  };
}

async function plannedOf(context: DriverContext, captures: PhaseCaptures): Promise<PlanReading> {
  const playbook = await playbookOf(context);
  if (playbook === null) return unknownPlan('destroy.yml', nothingToRun);
  return variablesOf(context.job).skipsCheck
    ? unknownPlan(playbook, notChecked)
    : checkedPlan(captures.get(capturedEvents));
}

export const ansible: Driver = {
  type: facts.type,
  programs: [facts.program.name, 'ansible-galaxy'],
  codeFiles: /\.(ya?ml|cfg|ini)$/,
  refusals,
  warnings,
  files: filesOf,
  environment: environmentOf,
  prepare: prepareCommands,
  plan: planCommands,
  readPlan,
  apply: applyCommands,
  reason: ansibleReason,
  diagnostics: ansibleDiagnostics,
  progress: {
    // Without the file of events, nothing in the log says which host changed what.
    fromLog: () => ({ read: () => [] }),
    fromFile: playbookProgress,
  },
  outputs: { read: (captures) => outputsOf(captures.get(capturedEvents)) },
};
