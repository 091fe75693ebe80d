/** The commands of a stack, phase by phase. All are verbs of a program of ours. */
import { join } from 'node:path';
import { cloudformation as facts } from '#protocol/tools/cloudformation/facts.ts';
import { type Command, inputs, type Note, type PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { readApproved } from './approval.ts';
import { captured } from './captures.ts';
import { type ResourceVerb, requestFile } from './stacks/api/reports.ts';

const { steps, program } = facts;

/** Proxies of the environment count; code that users would have Node load does not. */
function ownEnvironment({ temporaryFolder }: DriverContext): Record<string, string> {
  const cache = join(temporaryFolder, 'compile-cache');
  return { NODE_USE_ENV_PROXY: '1', NODE_OPTIONS: '', NODE_COMPILE_CACHE: cache };
}

type More = Omit<Partial<Command>, 'environment'>;

function command(context: DriverContext, step: string, verb: ResourceVerb, more: More = {}): Command {
  return {
    step,
    program: program.name,
    label: `${program.name} ${verb}`,
    args: [verb, requestFile],
    environment: ownEnvironment(context),
    ...more,
  };
}

/** An apply has its change set, and needs no template. */
export async function prepareCommands(context: DriverContext): Promise<(Command | Note)[]> {
  const { job } = context;
  const [step = ''] = steps.prepare;
  if (job.phase === 'apply') return [{ step, note: 'The change set is that of the plan.' }];
  if (job.type === 'destroy') return [{ step, note: 'A destroy needs no template.' }];
  return [command(context, step, 'validate')];
}

export function planCommands(context: DriverContext): Command[] {
  const { job } = context;
  if (job.type === 'destroy')
    return [command(context, steps.plan, 'plan-deletion', { captureTo: captured.deletion })];
  const planned = command(context, steps.plan, 'create-change-set', { captureTo: captured.changeSet });
  if (job.type !== 'driftDetection') return [planned];
  return [command(context, steps.plan, 'detect-drift', { captureTo: captured.drift }), planned];
}

/** Whether there is anything to apply. */
function isNeeded(captures: PhaseCaptures): boolean {
  const { changeSetId, stackId, isDeletion } = readApproved(captures);
  return isDeletion ? stackId !== null : changeSetId !== null;
}

const ofApproved = {
  when: isNeeded,
  input: (captures: PhaseCaptures) => captures.get(inputs.approved) ?? null,
} as const;

export function applyCommands(context: DriverContext): Command[] {
  if (context.job.type === 'destroy')
    return [
      command(context, steps.destroy, 'plan-deletion', { captureTo: captured.deletion, when: isNeeded }),
      command(context, steps.destroy, 'delete-stack', { isChanging: true, ...ofApproved }),
    ];
  return [
    command(context, steps.apply, 'describe-change-set', { captureTo: captured.changeSet, ...ofApproved }),
    command(context, steps.apply, 'execute-change-set', { isChanging: true, ...ofApproved }),
    command(context, steps.outputs ?? '', 'describe-outputs', { captureTo: captured.outputs }),
  ];
}
