/** State versions, who may read and change them, and the http protocol of the tools. */
import { toolFacts } from '#protocol/tools/index.ts';
import type { Context } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import type { ReactionPayloads } from '../../framework/reactions.ts';
import { conflict } from '../../ground/errors.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { listCurrentStates, lockStateVersion, stateVersionHome } from '../../rows/state/state-store.ts';
import { stateProtocolRoutes } from './state-protocol.ts';
import { stateRoutes } from './state-routes.ts';
import { removeOldVersions, sweepEverySeconds } from './sweep-versions.ts';
import { forgetCurrent } from './write-state.ts';

/**
 * Keeps states readable when an environment changes its tool, which cannot take over another format: states without
 * resources, as a destroy leaves them, are no longer current.
 * @throws Refusal 409 if the new tool does not read the states that the environments have, or that their open
 * deployments may store
 */
async function leaveStates(
  context: Context,
  { environmentIds, open, from, to, field, by }: ReactionPayloads['toolChanging'],
): Promise<void> {
  if (toolFacts(from)?.state === toolFacts(to)?.state) return;
  const refused = `${field} cannot change from ${from} to ${to}`;
  const states = await listCurrentStates(context.db, environmentIds);
  const filled = states.filter((row) => row.resource_count !== 0).length;
  if (filled > 0)
    throw conflict(
      `${refused}: ${to} does not read the state of ${filled} ${filled === 1 ? 'environment' : 'environments'}. Destroy what it lists, clear it (envarium state clear), or create another environment`,
    );
  const [first] = open;
  if (first)
    throw conflict(
      `${refused} while the ${first.type} ${first.id} is ${first.status}: ${to} would not read a state that it stores. Wait until it ends, or cancel it`,
    );
  for (const { environment_id: id } of states) {
    const environment = await lockEnvironmentRow(context.db, id);
    if (environment) await forgetCurrent({ ...context, ...by }, environment);
  }
}

export const family: Family = {
  name: 'state',
  routes: stateRoutes,
  plugin: stateProtocolRoutes,
  loops: [{ name: 'old state versions', everySeconds: sweepEverySeconds, pass: removeOldVersions }],
  reactions: { toolChanging: [leaveStates] },
  entities: { stateVersion: stateVersionHome },
  locks: { stateVersion: lockStateVersion },
  tables: ['state_version', 'state_lock', 'state_access'],
};
