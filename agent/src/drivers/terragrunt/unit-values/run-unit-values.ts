/**
 * Keeps an apply of a unit to the values of its plan, as a role of the agent's own program: `unit-values
 * <all|ephemeral> <rules of its files> <absolute folder of the plans> <words of a command of the tool>`, in the environment and the folder of that command
 * and ahead of it. Terragrunt determines the values for each command, and the tools also use those of the apply: a
 * saved plan has no value of an ephemeral variable, and with OpenTofu none of a variable that it left at its default.
 * For a plan, this notes them next to the plan's file; for an apply, it compares.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readFlags } from '#protocol/tools/inputs/terraform-arguments.ts';
import type { TreeReader } from '../../interface/capabilities.ts';
import { mayName } from '../../terraform/code/ephemeral-texts.ts';
import { configurationFiles, type FileRules, requireReadableNames } from '../../terraform/code/files.ts';
import { planOf, type SetValue, type StartedCommand, valuesOf } from './values-of-command.ts';

/** Suffix of the path of a plan for that of its values, which are in a folder of their own. */
export const valuesEnding = '.values/noted';

/** More would hide the advice. */
const mostNames = 10;

/** The values of a plan, as keys. */
interface PlanValues {
  readonly all: readonly string[];
  /** Of each ephemeral variable, what may set it, in the order of precedence. */
  readonly ephemeral: Readonly<Record<string, readonly string[]>>;
}

interface UnitCheck extends StartedCommand {
  /** Of which variables the tool also uses other values than those of its plan. */
  readonly scope: string;
  readonly rules: FileRules;
  readonly plans: string;
}

function settersOf(values: readonly SetValue[], name: string): string[] {
  return values.filter((value) => value.sets(name)).map(({ key }) => key);
}

/** Parser of configurations, loaded only for those that may need it. */
async function ephemeralIn({ folder, rules }: UnitCheck): Promise<string[]> {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  // The tools pass over folders, whatever their names are.
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const files = configurationFiles(
    entries.map(({ name }) => name),
    rules,
  );
  requireReadableNames(files);
  if (!files.some((name) => mayName(read(name), 'ephemeral'))) return [];
  const { ephemeralVariables } = await import('../../terraform/code/ephemeral-variables.ts');
  const tree: TreeReader = { list: async () => files, text: async (name) => read(name) };
  return ephemeralVariables(tree, rules);
}

/** Another unit's generate blocks could remove or replace a file in a folder that is not closed. */
function writeClosed(path: string, text: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, text, { mode: 0o400 });
  chmodSync(folder, 0o500);
}

async function note(check: UnitCheck): Promise<void> {
  const file = readFlags(check.words).findLast(({ name }) => name === '-out')?.value;
  if (file === undefined) return;
  const values = valuesOf(check);
  const names = await ephemeralIn(check);
  const noted: PlanValues = {
    all: values.map(({ key }) => key),
    ephemeral: Object.fromEntries(names.map((name) => [name, settersOf(values, name)])),
  };
  writeClosed(`${file}${valuesEnding}`, JSON.stringify(noted));
}

/** The values of the plan that is applied. @throws Error if they are not known */
function notedFor(check: UnitCheck): PlanValues {
  const plan = resolve(check.folder, planOf(check));
  try {
    if (!plan.startsWith(`${check.plans}/`)) throw new Error(`${plan} is not a plan of this run`);
    return JSON.parse(readFileSync(`${plan}${valuesEnding}`, 'utf8')) as PlanValues;
  } catch (cause) {
    throw new Error('The values of the plan are not known\n\nDeploy again, and approve the new plan.', {
      cause,
    });
  }
}

const advice =
  'An apply gets the values of its plan, and no others: have inputs, extra_arguments, generate blocks and hooks set\nthe same for plan and apply.';

function compare(check: UnitCheck): void {
  const noted = notedFor(check);
  const values = valuesOf(check);
  const known = new Set(noted.all);
  const compared = check.scope === 'all' ? values : [];
  const others = compared.filter(({ key }) => !known.has(key)).map(({ from }) => from);
  if (others.length > 0) {
    const more = others.length > mostNames ? ` and ${others.length - mostNames} more` : '';
    throw new Error(
      `The plan does not have the value of ${others.slice(0, mostNames).join(', ')}${more}\n\n${advice}`,
    );
  }
  for (const [name, setters] of Object.entries(noted.ephemeral))
    if (JSON.stringify(settersOf(values, name)) !== JSON.stringify(setters))
      throw new Error(
        `The ephemeral variable ${name} is set otherwise than in the plan\n\n${advice}\nTerragrunt leaves -var and files of values out of an apply: set ephemeral variables by inputs.`,
      );
}

/** Sets the exit code of the process; what is wrong is printed as the tool does it. */
export async function runUnitValues(): Promise<void> {
  const [, , , scope = '', ruleText = '', plans = '', verb = '', ...words] = process.argv;
  const rules = JSON.parse(ruleText) as FileRules;
  const check = { scope, rules, plans, verb, words, environment: process.env, folder: process.cwd() };
  try {
    if (verb === 'plan') await note(check);
    else compare(check);
  } catch (error) {
    process.stderr.write(`Error: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
