/** States of environments stay readable: a tool cannot take over what another one keeps in a format of its own. */
import { toolFacts } from '#protocol/tools/index.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import { conflict } from '../http/errors.ts';

/**
 * @param field of the request that changes the tool, as `/body/type`
 * @throws Refusal 409 if environments have a current state that the new tool does not read
 */
export function refuseOtherStates(
  environments: readonly Pick<EnvironmentRow, 'current_state_version_id'>[],
  { from, to, field }: { readonly from: string; readonly to: string; readonly field: string },
): void {
  if (toolFacts(from)?.state === toolFacts(to)?.state) return;
  const { length } = environments.filter((each) => each.current_state_version_id !== null);
  if (length === 0) return;
  throw conflict(
    `${field} cannot change from ${from} to ${to}: ${to} does not read the state of ${length} ${length === 1 ? 'environment' : 'environments'}. Destroy what it lists and clear it (envarium state clear), or create another environment`,
  );
}
