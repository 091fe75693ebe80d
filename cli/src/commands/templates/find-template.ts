/** Finds a template by id or exact name. */
import type { Client } from '#contract/client/client.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { isId, matching, only, orNotFound } from '../../find/find-environment.ts';

/** @throws BadCall unless exactly one has the id, its beginning or the exact name */
export async function findTemplate(
  client: Client,
  organizationId: string,
  idOrName: string,
): Promise<Template & { id: string }> {
  const byId = isId(idOrName)
    ? await orNotFound(client.call('getTemplate', { params: { id: idOrName } }))
    : null;
  if (byId) return { ...byId, id: byId.id ?? idOrName };
  const all = (await client.call('listTemplates', { query: { organizationId } })).map((each) => ({
    ...each,
    id: each.id ?? '',
  }));
  return only(matching(all, idOrName), 'template', idOrName, ({ name, type }) => `${name} (${type})`);
}
