/** The commands of a run of terragrunt, phase by phase. */
import { dirname, join } from 'node:path';
import { runEnvironment } from '#protocol/run-environment.ts';
import { plannedValues } from '#protocol/tools/applied-values.ts';
import { terragrunt as facts } from '#protocol/tools/terragrunt.ts';
import { type Command, inputs, type Note, type PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { added, runVariablesOf } from '../terraform/commands.ts';
import { filesOfMock } from './deferred.ts';
import { outputLines, planCapture, unitsWithPlan } from './plan.ts';
import { singlePlan, withSameValues } from './same-values.ts';
import {
  addressesOf,
  binaryName,
  cycleLines,
  everyUnitCapture,
  isRunAll,
  planName,
  unitsCapture,
  unitsOf,
  unitsSoFar,
  usesTofu,
} from './settings.ts';
import { checkUnit, elsewhereOf } from './unit-states.ts';
import { hasStacks, levelsOf, type TerragruntUnit } from './units.ts';
import { isAboutMissing, reportCapture, reportedUnits, unplannedUnits } from './unplanned-units.ts';
import { workingFolder } from './working-folders.ts';

const program = facts.program.name;
const { steps } = facts;
const prepareStep = steps.prepare[0] ?? '';
const outputsStep = steps.outputs ?? '';
const report = { file: 'report.json', as: reportCapture } as const;
const filtersFile = 'units.txt';

/** Commands of terraform or OpenTofu that terragrunt runs. */
function run(context: DriverContext, words: readonly string[], own: readonly string[] = []): string[] {
  const all = isRunAll(context.job) ? ['--all'] : [];
  return ['run', ...all, ...own, '--', ...words];
}

/** Names units for `--filter`, also those with spaces. */
function filterOf({ path }: TerragruntUnit): string {
  return `{./${path === '.' ? '' : path}}`;
}

function reportArguments({ temporaryFolder }: DriverContext): string[] {
  return ['--report-file', join(temporaryFolder, report.file), '--report-format', 'json'];
}

function filterArguments(context: DriverContext): string[] {
  if (!isRunAll(context.job)) return [];
  return ['--no-filters-file', ...unitsOf(context).flatMap((unit) => ['--filter', filterOf(unit)])];
}

/** Arguments for files of variables: the tool works in another folder. */
function variableFiles({ job, configurationFolder }: DriverContext): string[] {
  return runVariablesOf(job).variableFiles.map((file) => `-var-file=${join(configurationFolder, file)}`);
}

/** OpenTofu also uses variables in an apply, and compares them with those of the plan. */
function appliedArguments({ job, configurationFolder }: DriverContext): string[] {
  const { applyArguments } = runVariablesOf(job);
  if (!usesTofu(job)) return [...applyArguments];
  // The last ones take precedence.
  return [
    ...applyArguments,
    ...plannedValues(runEnvironment(job), (file) => join(configurationFolder, file)),
  ];
}

/** Lists the units, also those that stacks generate. */
export function inspectCommands({ job }: Pick<DriverContext, 'job'>): Command[] {
  const find: Command = {
    step: prepareStep,
    program,
    label: `${program} find`,
    args: ['find', '--json', '--dependencies', '--reading', '--include', '--no-filters-file'],
    captureTo: unitsCapture,
    finds: { pattern: /Cycle detected in dependency graph/, as: cycleLines },
  };
  const when = (captures: PhaseCaptures) => hasStacks(captures.get(unitsCapture), job.secrets);
  return [
    find,
    {
      step: prepareStep,
      program,
      label: `${program} stack generate`,
      args: ['stack', 'generate'],
      environment: { TG_NO_STACK_GENERATE: 'false' },
      loadsModules: true,
      when,
    },
    { ...find, label: `${program} find (generated)`, when },
    {
      step: prepareStep,
      program,
      label: `${program} find (all)`,
      args: ['find', '--json', '--no-filters-file'],
      captureTo: everyUnitCapture,
      when: (captures) => (captures.get(cycleLines)?.length ?? 0) > 0,
    },
  ];
}

function orderText(units: readonly TerragruntUnit[]): string {
  const levels = levelsOf(units).map((level) => level.map(({ path }) => path).join(', '));
  return `${units.length === 1 ? '1 unit' : `${units.length} units`}: ${levels.join(' → ')}`;
}

/** In an apply elsewhere, what the plan has initialized is not there; where it is, this only shows the units. */
export function prepareCommands(context: DriverContext): (Command | Note)[] {
  const { job } = context;
  const note = isRunAll(job) ? orderText(unitsOf(context)) : 'The unit is initialized with its plan.';
  if (job.phase !== 'apply') return [{ step: prepareStep, note }];
  const filters = isRunAll(job) ? ['--filters-file', join(context.temporaryFolder, filtersFile)] : [];
  return [
    {
      step: prepareStep,
      program,
      label: `${program} init`,
      args: run(context, ['init', '-input=false'], filters),
      writes: (captures) => [writtenFilters(unitsWithPlan(context, captures.get(inputs.approved)))],
      installsProviders: true,
      loadsModules: true,
    },
  ];
}

function writtenFilters(units: readonly TerragruntUnit[]): { name: string; content: string } {
  return { name: filtersFile, content: `${units.map(filterOf).join('\n')}\n` };
}

interface Planning {
  readonly name: '' | '-destroy' | '-refresh-only';
  /** Absolute path of the plan, or of the folder of the plans. */
  readonly file: string;
  readonly kind: 'plan' | 'refresh';
}

/** Shows the saved plans with the tool itself: what a hook of terragrunt prints is not shown as a plan. */
async function showCommands(
  context: DriverContext,
  captures: PhaseCaptures,
  { file, kind }: Planning,
): Promise<Command[]> {
  const { tree, configurationFolder, job } = context;
  const units = unitsOf(context);
  const planned = new Set(unitsWithPlan(context, captures.get(inputs.saved)).map(({ path }) => path));
  const binary = binaryName(job);
  const commands: Command[] = [];
  for (const [index, unit] of units.entries()) {
    if (!planned.has(unit.path)) continue;
    const folder = await workingFolder((each) => tree.list(each), unit.path);
    if (folder === null)
      throw new Error(
        `unit ${unit.path}: terragrunt works elsewhere than in the unit's .terragrunt-cache: remove download_dir from its configuration`,
      );
    await checkUnit(context, unit, folder);
    commands.push({
      step: steps.plan,
      program: binary,
      label: `${binary} show${kind === 'refresh' ? ' (refresh-only)' : ''}${isRunAll(job) ? ` ${unit.path}` : ''}`,
      args: [
        `-chdir=${join(configurationFolder, folder)}`,
        'show',
        '-json',
        join(file, planName(job, unit.path)),
      ],
      captureTo: planCapture(index, kind),
    });
  }
  return commands;
}

/** Terragrunt says in these lines whose outputs it does not have. */
const outputLine = { test: (line: string) => filesOfMock(line) !== null || isAboutMissing(line) };

/** Whether units have plans, and all others wait for outputs. */
function isPlannedInPart({ configurationFolder }: DriverContext, captures: PhaseCaptures): boolean {
  const isAnyPlanned = [...reportedUnits(captures).values()].includes('succeeded');
  return isAnyPlanned && unplannedUnits(captures, captures.get(outputLines), configurationFolder) !== null;
}

/** Of a run in which every unit waits for others. */
function explainMissing({ configurationFolder }: DriverContext, captures: PhaseCaptures): string | null {
  const missing = unplannedUnits(captures, captures.get(outputLines), configurationFolder);
  const of = [...(missing?.values() ?? [])].flatMap((each) => each.of);
  if (of.length === 0) return null;
  return `Nothing of this plan can be applied: deploy the units that it needs first (${[...new Set(of)].join(', ')}), or include them in this deployment`;
}

function planCommand(context: DriverContext, planning: Planning): Command {
  const { job } = context;
  const { name, file } = planning;
  // These types run alongside deployments of the same environment and must not wait for their lock.
  const lock = job.type === 'prPlan' || job.type === 'remotePlan' ? ['-lock=false'] : [];
  const request = {
    targets: addressesOf(context),
    skipsRefresh: job.skipStateRefresh && name !== '-refresh-only',
  };
  const words = [
    'plan',
    '-input=false',
    '-detailed-exitcode',
    ...lock,
    ...facts.planArguments(request),
    ...(name === '' ? [] : [name]),
    ...(isRunAll(job) ? [] : [`-out=${singlePlan(job, file)}`]),
  ];
  const all = isRunAll(job) ? ['--out-dir', file, ...filterArguments(context)] : [];
  const values = [...variableFiles(context), ...runVariablesOf(job).planArguments];
  return {
    step: steps.plan,
    program,
    label: `${program} plan${name === '' ? '' : ` ${name}`}`,
    args: run(context, words, [...all, ...reportArguments(context)]),
    goodExitCodes: [2],
    interrupts: 'twice',
    savesPlan: file,
    installsProviders: true,
    loadsModules: true,
    collects: { file: join(context.temporaryFolder, report.file), as: report.as },
    finds: { pattern: outputLine, as: outputLines },
    ...(isRunAll(job) ? { isEnough: (captures: PhaseCaptures) => isPlannedInPart(context, captures) } : {}),
    explain: (captures) => explainUnits(captures, 'planned') ?? explainMissing(context, captures),
    next: (captures) => showCommands(context, captures, planning),
    ...added(job, 'plan', values),
    ...withSameValues(job, file),
  };
}

export function planCommands(context: DriverContext): Command[] {
  const { job, planFile } = context;
  const plan: Planning = { name: job.type === 'destroy' ? '-destroy' : '', file: planFile, kind: 'plan' };
  if (job.type !== 'driftDetection') return [planCommand(context, plan)];
  // Drift, planned separately from the changes of the code.
  const file = join(dirname(planFile), 'refresh-only');
  return [planCommand(context, { name: '-refresh-only', file, kind: 'refresh' }), planCommand(context, plan)];
}

/**
 * Completed units, for a failure.
 * @param before those that an earlier try has done
 */
function explainUnits(
  captures: PhaseCaptures,
  done: 'planned' | 'applied' | 'destroyed',
  before: Iterable<string> = [],
): string | null {
  const reported = reportedUnits(captures);
  for (const unit of before) reported.set(unit, 'succeeded');
  const named = (...results: string[]) =>
    [...reported].filter(([, result]) => results.includes(result)).map(([name]) => name);
  const [good, failed, rest] = [named('succeeded'), named('failed'), named('early exit', 'excluded')];
  if (reported.size < 2) return null;
  const parts = [
    `${good.length} of ${reported.size} units are ${done}${good.length === 0 ? '' : `: ${good.sort().join(', ')}`}.`,
    ...(failed.length === 0 ? [] : [`Failed: ${failed.sort().join(', ')}.`]),
    ...(rest.length === 0 ? [] : [`Not run: ${rest.sort().join(', ')}.`]),
    ...(done === 'planned' ? [] : ['The next deployment continues with the rest.']),
  ];
  return parts.join(' ');
}

/** Applies the approved plans of some units, those that they need first. */
function applyUnits(context: DriverContext, units: readonly TerragruntUnit[] | null, name: string): Command {
  const { job, planFile, temporaryFolder } = context;
  const isDestroy = job.type === 'destroy';
  // Of a try before this one: their plans are used.
  const done = new Set<string>();
  const approved = (captures: PhaseCaptures) => {
    const all = unitsWithPlan(context, captures.get(inputs.approved)).filter(({ path }) => !done.has(path));
    return units === null ? all : all.filter((unit) => units.some(({ path }) => path === unit.path));
  };
  const all = isRunAll(job);
  const words = ['apply', '-input=false', ...(all ? [] : [join(planFile, planName(job, '.'))])];
  const own = all ? ['--out-dir', planFile, '--filters-file', join(temporaryFolder, filtersFile)] : [];
  return {
    step: isDestroy ? steps.destroy : steps.apply,
    program,
    label: `${program} apply${name}`,
    args: run(context, words, [...own, ...reportArguments(context)]),
    isChanging: true,
    interrupts: 'twice',
    when: (captures) => !all || approved(captures).length > 0,
    ...(all ? { writes: (captures: PhaseCaptures) => [writtenFilters(approved(captures))] } : {}),
    collects: { file: join(temporaryFolder, report.file), as: report.as },
    explain(captures) {
      const text = explainUnits(captures, isDestroy ? 'destroyed' : 'applied', done);
      for (const [unit, result] of reportedUnits(captures)) if (result === 'succeeded') done.add(unit);
      return text;
    },
    ...added(job, 'apply', appliedArguments(context)),
    ...withSameValues(job, planFile),
  };
}

/**
 * Terragrunt applies the plans of a destroy in the same order as all others, which destroys what other units need:
 * here the units go one level after the other, those first that no other one needs.
 */
function destroyCommands(context: DriverContext): Command[] {
  const levels = levelsOf(unitsOf(context)).toReversed();
  if (!isRunAll(context.job) || levels.length < 2) return [applyUnits(context, null, ' (destroy)')];
  return levels.map((level, index) =>
    applyUnits(context, level, ` (destroy, ${index + 1} of ${levels.length})`),
  );
}

/** Reads the state of a unit whose own backend has it. */
function pullCommand(context: DriverContext, unit: TerragruntUnit, index: number): Command {
  return {
    step: outputsStep,
    program,
    label: `${program} state pull${isRunAll(context.job) ? ` ${unit.path}` : ''}`,
    args: [
      'run',
      '--working-dir',
      join(context.configurationFolder, unit.path),
      '--tf-forward-stdout',
      '--',
      'state',
      'pull',
    ],
    captureTo: pullCapture(index),
    // Without a plan, a unit may have no state and no outputs that others need.
    when: (captures) =>
      context.job.level?.done.includes(unit.path) === true ||
      unitsWithPlan(context, captures.get(inputs.approved)).some(({ path }) => path === unit.path),
  };
}

/** Under which the state of a unit is captured. */
export function pullCapture(index: number): string {
  return `state-${index}.json`;
}

export function applyCommands(context: DriverContext): Command[] {
  if (context.job.type === 'destroy') return destroyCommands(context);
  const elsewhere = elsewhereOf(context) ?? [];
  const pulls = unitsSoFar(context).map((unit, index) => {
    const isOurs = context.stateFolder !== null && !elsewhere.includes(unit.path);
    const pulling = pullCommand(context, unit, index);
    return isOurs ? { ...pulling, isForEncryptedState: true } : pulling;
  });
  return [applyUnits(context, null, ''), ...pulls];
}
