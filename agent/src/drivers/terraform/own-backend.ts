/**
 * Reader of the state in the code's backend, for an environment whose state the service will store from
 * now on.
 */
import type { Command } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import type { KeptElsewhere } from '../interface/state-places.ts';
import { isOurs, readCodeBackend } from './backend.ts';
import { type Flavor, initCommand, workspaceOf } from './commands.ts';

const listed = 'own-workspaces';
const pulled = 'own-state';

/** The names in the output of `workspace list`, which marks the selected one with a star. */
export function workspacesIn(output: Uint8Array | undefined): string[] {
  return new TextDecoder()
    .decode(output)
    .split('\n')
    .map((line) => line.replace(/^[*\s]+/, '').trim())
    .filter((name) => name !== '');
}

/**
 * Selects no workspace, because the tool would create it; the contents of the backend do not change.
 * @param context without a state folder
 * @returns null if the code configures no backend, or a local one
 */
export async function ownBackend(flavor: Flavor, context: DriverContext): Promise<KeptElsewhere | null> {
  const { job, tree } = context;
  const backend = await readCodeBackend(tree, flavor.fileRules);
  if (isOurs(backend)) return null;
  const program = flavor.facts.program.name;
  const init = initCommand(flavor, context);
  const { step } = init;
  const listing: Command = {
    step,
    program,
    label: `${program} workspace list`,
    args: ['workspace', 'list'],
    captureTo: listed,
  };
  const pulling: Command = {
    step,
    program,
    label: `${program} state pull`,
    args: ['state', 'pull'],
    captureTo: pulled,
  };
  const name = backend.type;
  if (!backend.hasWorkspaces) return { name, reach: [init], read: () => pulling };
  const workspace = workspaceOf(job);
  return {
    name,
    reach: [init, listing],
    read(captures) {
      const workspaces = workspacesIn(captures.get(listed));
      if (workspaces.includes(workspace)) return { ...pulling, environment: { TF_WORKSPACE: workspace } };
      const others =
        workspaces.length === 0
          ? ''
          : ` It has ${workspaces.join(', ')}: if one of them is meant, import its state.`;
      return {
        nothing: `The backend ${name} of the code has no workspace ${workspace}, so there is no state to import.${others}`,
      };
    },
  };
}
