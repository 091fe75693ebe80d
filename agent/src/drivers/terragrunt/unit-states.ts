/** Place of the state of each unit, and a check whether the tool uses it. */
import { join } from 'node:path';
import { isRecord } from '#contract/schema/is-record.ts';
import type { DriverContext, FileToWrite } from '../interface/driver.ts';
import { overrideName } from '../terraform/backend.ts';
import { backendInFolder } from './backends.ts';
import { allUnits, isRunAll, rulesOf } from './settings.ts';
import { partName, singleStateName } from './state.ts';
import type { TerragruntUnit } from './units.ts';

/** Under which the paths of the units are captured whose own backend has their state. */
export const elsewhereCapture = 'elsewhere.json';

/** Null: it is not known. */
export function elsewhereOf({ inspected }: Pick<DriverContext, 'inspected'>): string[] | null {
  const found = inspected?.get(elsewhereCapture);
  return found === undefined ? null : (JSON.parse(new TextDecoder().decode(found)) as string[]);
}

/** The file of the state below the folder of the state. */
function stateName({ job }: Pick<DriverContext, 'job'>, unit: string): string {
  return isRunAll(job) ? partName(unit) : singleStateName;
}

function statePath(context: DriverContext, unit: string): string {
  return join(context.stateFolder ?? '', stateName(context, unit));
}

const ours = /(^|[_~])envarium_override\./;

/** The files that put the states of units into the folder of the state; terragrunt copies them with the unit. */
export async function stateOverrides(context: DriverContext): Promise<FileToWrite[]> {
  const { stateFolder, tree, job } = context;
  if (stateFolder === null) return [];
  const elsewhere = elsewhereOf(context) ?? [];
  const units = allUnits(context).filter(({ path }) => !elsewhere.includes(path));
  return Promise.all(
    units.map(async ({ path }): Promise<FileToWrite> => {
      const names = await tree.list(path === '.' ? '' : path);
      const backend = { local: { path: statePath(context, path) } };
      const content = `${JSON.stringify({ terraform: { backend } }, null, 2)}\n`;
      return { name: join(path, overrideName(names, rulesOf(job))), content, isSecret: false };
    }),
  );
}

async function initializedBackend(
  { tree }: DriverContext,
  folder: string,
): Promise<{ type?: unknown; path?: unknown }> {
  try {
    const record = JSON.parse((await tree.text(`${folder}/.terraform/terraform.tfstate`)) ?? '') as unknown;
    const backend = isRecord(record) && isRecord(record['backend']) ? record['backend'] : {};
    const config = isRecord(backend['config']) ? backend['config'] : {};
    return { type: backend['type'], path: config['path'] };
  } catch {
    return {};
  }
}

/**
 * Compares what init has noted, and what is in the working folder, with where the state is expected.
 * @throws an Error with the unit and what to do
 */
export async function checkUnit(
  context: DriverContext,
  { path }: TerragruntUnit,
  folder: string,
): Promise<void> {
  const { tree, job, stateFolder } = context;
  const name = isRunAll(job) ? `Unit ${path}` : 'The unit';
  const { type, path: found } = await initializedBackend(context, folder);
  if (stateFolder === null || (elsewhereOf(context) ?? []).includes(path)) {
    if (type !== undefined && type !== 'local') return;
    throw new Error(
      `${name} would lose its state: its configuration names a backend, but init has set up none that outlasts the run. Write the remote_state block into terragrunt.hcl or a file that it includes, or remove it to have the service store the state`,
    );
  }
  const hidden = await backendInFolder(
    {
      list: async (each) => (await tree.list(join(folder, each))).filter((file) => !ours.test(file)),
      text: (each) => tree.text(join(folder, each)),
    },
    rulesOf(job),
  );
  if (hidden.type !== 'local')
    throw new Error(
      `${name} has a backend ${hidden.type} in its source or in a file that is generated, which is not visible in terragrunt.hcl: write a remote_state block with that backend into terragrunt.hcl, or remove the backend to have the service store the state`,
    );
  if (type !== 'local' || found !== statePath(context, path))
    throw new Error(
      `${name}: its state would not be stored: init has set up a different backend from the one that this environment needs. Remove -backend, -backend-config and -migrate-state from TF_CLI_ARGS, TF_CLI_ARGS_init and extra_arguments, and files named like …_override.tf from the unit`,
    );
}
