/**
 * The resources that earlier runs created without recording them in a state, and that a deployment imports
 * because a person requests it.
 */
import type { UnrecordedResource } from '#contract/deployments/plan.ts';
import type { ResourceToImport } from '#protocol/messages/job.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { Connection } from '../../../framework/context.ts';
import { badField, conflict } from '../../../ground/errors.ts';
import { unrecordedSinceSuccess } from '../../../rows/deployments/shown-deployment-store.ts';
import type { StoredFacts } from '../inputs/start-facts.ts';

/** Each address once, as the newest run that created it reported it. */
function importsOf(unrecorded: readonly UnrecordedResource[]): ResourceToImport[] {
  const newest = new Map<string, ResourceToImport>();
  for (const { address, id, certainty } of unrecorded)
    if (certainty === 'created' && id !== undefined && id !== '') newest.set(address, { address, id });
  return [...newest.values()];
}

/**
 * A successful deploy has everything of its code in its state, and a destroy leaves nothing: what earlier runs
 * left no longer counts.
 * @throws Refusal 400 where the tool cannot import, 409 if there is nothing to import
 */
export async function unrecordedImports(
  db: Connection,
  { environment, template }: Pick<StoredFacts, 'environment' | 'template'>,
): Promise<ResourceToImport[]> {
  const facts = toolFacts(template.type);
  if (facts?.importsResources !== true)
    throw badField(
      'body.importUnrecorded',
      `does not apply to ${facts?.label ?? template.type}, whose plans cannot import resources`,
    );
  const unrecorded = await unrecordedSinceSuccess(db, environment.id);
  const imports = importsOf(unrecorded);
  if (imports.length === 0) throw conflict(nothingToImport(environment.name, unrecorded));
  return imports;
}

function nothingToImport(name: string, unrecorded: readonly UnrecordedResource[]): string {
  const subject = `Environment "${name}" has nothing to import`;
  return unrecorded.length === 0
    ? `${subject}: no deployment since its last successful one lists unrecordedResources; deploy without importUnrecorded`
    : `${subject}: the unrecordedResources of its deployments may exist, or have no id; check them, and add an import block to the code for each that exists`;
}
