/** The commands of Pulumi, phase by phase. */
import { delimiter, dirname, join } from 'node:path';
import { usualPath } from '#guards/find-on-path.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { pulumi as facts } from '#protocol/tools/pulumi.ts';
import { type Command, inputs, type Note, type PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { backendEnvironment, homeOf } from './backend.ts';
import { isSecret, secretValues } from './configuration.ts';
import { readProject } from './project.ts';
import { isStateOf, pendingOperations, withoutPending } from './state.ts';

const { steps } = facts;
const program = facts.program.name;
const [loginStep = '', stackStep = ''] = steps.prepare;

/** Names of what commands capture. */
export const captured = {
  stack: 'stack.json',
  preview: 'preview.jsonl',
  /** Pulumi's plan, or the events of a destroy, made again right before the change. */
  again: 'again.json',
  outputs: 'outputs.json',
  openOutputs: 'outputs-open.json',
} as const;

/** Pulumi looks for the host of a language next to itself and on the PATH. */
function hostPath({ programPaths = {} }: DriverContext, path = usualPath): Record<string, string> {
  const [own, host] = [programPaths[program], programPaths['pulumi-language-yaml']];
  if (!own || !host || dirname(own) === dirname(host)) return {};
  return { PATH: [dirname(host), path].join(delimiter) };
}

/** The environment of all commands. */
export function environmentOf(context: DriverContext): Record<string, string> {
  const environment = runEnvironment(context.job);
  const hasNoColour = environment['NO_COLOR'] !== undefined;
  return {
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION:
      environment['PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION'] ?? 'true',
    // A stack whose configuration was never committed has its salt in the state only.
    PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER:
      environment['PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER'] ?? 'true',
    // The option for the file of events belongs to these.
    PULUMI_DEBUG_COMMANDS: 'true',
    PULUMI_HOME: homeOf(context),
    // A lock names the user, and runs have one without a name.
    USER: environment['USER'] ?? 'envarium',
    ...hostPath(context, environment['PATH']),
    ...(hasNoColour ? {} : { PULUMI_OPTION_COLOR: environment['PULUMI_OPTION_COLOR'] ?? 'always' }),
    ...backendEnvironment(context),
  };
}

function command(
  { job }: DriverContext,
  step: string,
  words: readonly string[],
  more: Partial<Command> & { readonly args?: readonly string[] } = {},
): Command {
  const { args = [], ...rest } = more;
  return {
    step,
    program,
    label: [program, ...words].join(' '),
    args: [...words, '--stack', job.workspaceName, '--non-interactive', ...args],
    ...rest,
  };
}

/** Encrypts the values of sensitive variables, one by one: Pulumi reads a value only from its standard input. */
async function secretCommands(context: DriverContext): Promise<Command[]> {
  const values = await secretValues(context.job.variables.terraform.filter(isSecret));
  return [...values].map(([name, value]) =>
    command(context, stackStep, ['config', 'set', '--secret', name], {
      // One line break at the end is not part of the value.
      input: () => `${value}\n`,
    }),
  );
}

export async function prepareCommands(context: DriverContext): Promise<(Command | Note)[]> {
  const { job, tree, stateFolder } = context;
  const { name: project, file } = await readProject(tree);
  const code = { project, file, stack: job.workspaceName };
  const login = { program, label: `${program} login`, args: ['login', '--non-interactive'] };
  return [
    stateFolder === null
      ? { step: loginStep, ...login }
      : { step: loginStep, note: 'The service keeps the state of the stack.' },
    {
      step: stackStep,
      program,
      label: `${program} stack select --create`,
      args: ['stack', 'select', '--create', job.workspaceName, '--non-interactive'],
      when(captures) {
        const isThere = stateFolder !== null && isStateOf(captures.get(inputs.state), code);
        // Commands of tasks need not name the stack.
        return !isThere || job.type === 'task';
      },
    },
    ...(await secretCommands(context)),
  ];
}

/**
 * Finds out what an earlier run has begun and not ended. Where the service keeps the state, such operations are
 * removed from it; the plan names them.
 */
function pendingCommands(context: DriverContext, step: string): Command[] {
  if (context.stateFolder === null)
    return [command(context, step, ['stack', 'export'], { captureTo: captured.stack })];
  return [
    command(context, step, ['stack', 'import'], {
      when: (captures) => pendingOperations(captures.get(inputs.state)).length > 0,
      input: (captures) => withoutPending(captures.get(inputs.state) ?? new Uint8Array()),
    }),
  ];
}

function requestArguments({ job }: DriverContext): string[] {
  return facts.planArguments({ targets: job.targets, skipsRefresh: job.skipStateRefresh });
}

const shown = ['--diff', '--show-replacement-steps', '--suppress-permalink=true'];

function inTemporary({ temporaryFolder }: DriverContext, name: string): string {
  return join(temporaryFolder, name);
}

/** The preview of an update or a destroy. @param files where it writes its plan or its events */
function previewCommand(
  context: DriverContext,
  step: string,
  files: { readonly events: string; readonly plan?: string },
  more: Partial<Command>,
): Command {
  const isDestroy = context.job.type === 'destroy';
  const words = isDestroy ? ['destroy', '--preview-only'] : ['preview'];
  return command(context, step, words, {
    args: [
      ...requestArguments(context),
      ...shown,
      `--event-log=${files.events}`,
      ...(files.plan === undefined ? [] : [`--save-plan=${files.plan}`]),
    ],
    ...more,
  });
}

export function planCommands(context: DriverContext): Command[] {
  const { planFile, job } = context;
  const pending = pendingCommands(context, steps.plan);
  const savesPlan = planFile;
  // Pulumi saves no plan of a destroy: its events are kept instead.
  if (job.type === 'destroy') {
    const more = { savesPlan, collects: { file: planFile, as: captured.preview } };
    return [...pending, previewCommand(context, steps.plan, { events: planFile }, more)];
  }
  const events = inTemporary(context, captured.preview);
  const more = { savesPlan, collects: { file: events, as: captured.preview } };
  return [...pending, previewCommand(context, steps.plan, { events, plan: planFile }, more)];
}

/** The same preview again: what it would do now is compared with what was approved. */
function checkCommand(context: DriverContext, step: string): Command {
  const file = inTemporary(context, captured.again);
  const collects = { file, as: captured.again };
  if (context.job.type === 'destroy') return previewCommand(context, step, { events: file }, { collects });
  return previewCommand(
    context,
    step,
    { events: inTemporary(context, 'again.jsonl'), plan: file },
    { collects },
  );
}

export function applyCommands(context: DriverContext): Command[] {
  const { job, planFile } = context;
  const isDestroy = job.type === 'destroy';
  const step = isDestroy ? steps.destroy : steps.apply;
  const eventFile = inTemporary(context, 'events.jsonl');
  const change = command(context, step, [isDestroy ? 'destroy' : 'up'], {
    args: [
      '--yes',
      '--skip-preview',
      ...requestArguments(context),
      ...shown,
      `--event-log=${eventFile}`,
      ...(isDestroy ? [] : [`--plan=${planFile}`]),
    ],
    isChanging: true,
    eventFile,
  });
  const outputs = isDestroy ? [] : outputCommands(context);
  return [...pendingCommands(context, step), checkCommand(context, step), change, ...outputs];
}

function outputCommands(context: DriverContext): Command[] {
  const step = steps.outputs ?? '';
  const args = ['--json'];
  return [
    command(context, step, ['stack', 'output'], { args, captureTo: captured.outputs }),
    command(context, step, ['stack', 'output', '--show-secrets'], { args, captureTo: captured.openOutputs }),
  ];
}

/** The stack as it is before the preview: a program of the run cannot have changed it. */
export function stackBefore({ stateFolder }: DriverContext, captures: PhaseCaptures): Uint8Array | undefined {
  return captures.get(stateFolder === null ? captured.stack : inputs.state);
}

/** Pending operations of an earlier run in the plan. */
export function pendingRemarks(context: DriverContext, captures: PhaseCaptures): string[] {
  const { stateFolder } = context;
  return pendingOperations(stackBefore(context, captures)).map(({ type, resource: { urn } }) => {
    const begin = `An earlier run was stopped while ${type} ${urn}: `;
    if (type !== 'creating') return `${begin}it is in the state, and was read again for this plan.`;
    const known = 'whether it exists is unknown, and the state does not have it. ';
    const advice =
      'If it exists, delete it, or take it into the state with the resource option "import", before this plan is applied.';
    return stateFolder === null
      ? `${begin}${known}${advice} Then run "pulumi refresh --clear-pending-creates" with your backend.`
      : `${begin}${known}The unfinished operation was removed from the state, so that this plan creates it. ${advice}`;
  });
}
