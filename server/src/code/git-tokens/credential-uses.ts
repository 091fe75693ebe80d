/** Users of a credential or a connection: templates or their environments, modules, and connections. */
import type { CredentialUse } from '#contract/git-tokens/shapes.ts';
import type { Actor } from '../../framework/access/actor.ts';
import type { Connection } from '../../framework/context.ts';
import { conflict } from '../../ground/errors.ts';
import { activeEnvironmentsOf } from '../../rows/environments/template-environment-store.ts';
import type { Place } from '../../rows/places.ts';
import { modulesNaming } from '../../rows/registry/module-store.ts';
import {
  type NamedBySettings,
  type TemplateUse,
  templatesNaming,
} from '../../rows/templates/template-use-store.ts';
import { connectionsWithToken } from '../../rows/vcs-connections/vcs-connection-store.ts';

/** One use, and where the caller needs a right to see it. */
interface CheckedUse {
  readonly shown: CredentialUse;
  readonly place: Place;
}

const mostNamed = 5;

const words: Readonly<Record<CredentialUse['type'], string>> = {
  template: 'the template',
  environment: 'the environment',
  module: 'the module',
  vcsConnection: 'the VCS connection',
};

/**
 * A template counts until it is deleted. After that, its environments do while they are active, as those with a template
 * of their own: they can still be destroyed. A destroy in progress has received what its run needs.
 */
export async function usesOf(
  db: Connection,
  organizationId: string,
  named: NamedBySettings,
): Promise<CheckedUse[]> {
  const [templates, modules] = await Promise.all([
    templatesNaming(db, organizationId, named),
    modulesNaming(db, organizationId, named),
  ]);
  const isShared = (each: TemplateUse) => !each.is_single_use && !each.is_deleted;
  const others = templates.filter((each) => !isShared(each)).map(({ id }) => id);
  const environments = await activeEnvironmentsOf(db, others);
  const connections = 'tokenId' in named ? await connectionsWithToken(db, named.tokenId) : [];
  const at = (projectId: string | null, environmentId: string | null = null): Place => ({
    organizationId,
    projectId,
    environmentId,
  });
  return [
    ...templates.filter(isShared).map(({ id, name, project_id }) => ({
      shown: { type: 'template' as const, id, name },
      place: at(project_id),
    })),
    ...environments.map(({ id, name, project_id }) => ({
      shown: { type: 'environment' as const, id, name },
      place: at(project_id, id),
    })),
    ...modules.map(({ id, name, provider }) => ({
      shown: { type: 'module' as const, id, name: `${name}/${provider}` },
      place: at(null),
    })),
    ...connections.map(({ id, name }) => ({
      shown: { type: 'vcsConnection' as const, id, name },
      place: at(null),
    })),
  ];
}

function isVisible({ access }: Actor, { shown, place }: CheckedUse): boolean {
  if (shown.type === 'module') return access.has('VIEW_MODULES', place);
  if (place.projectId === null) return access.isMember(place.organizationId);
  return access.has(shown.type === 'environment' ? 'VIEW_ENVIRONMENT' : 'VIEW_PROJECT', place);
}

/** Those that the caller may see. */
export function visibleUses(actor: Actor, uses: readonly CheckedUse[]): CredentialUse[] {
  return uses.filter((use) => isVisible(actor, use)).map(({ shown }) => shown);
}

/**
 * @param what is to be deleted, as a sentence begins with it
 * @throws Refusal 409 that names what uses it, as far as the caller may see that
 */
export function requireUnused(actor: Actor, uses: readonly CheckedUse[], what: string): void {
  if (uses.length === 0) return;
  const named = visibleUses(actor, uses)
    .slice(0, mostNamed)
    .map(({ type, name }) => `${words[type]} "${name}"`);
  const others = uses.length - named.length;
  const parts = [...named, ...(others === 0 ? [] : [others === 1 ? '1 other' : `${others} others`])];
  const text = new Intl.ListFormat('en').format(parts);
  throw conflict(`${what} is used by ${text}: choose another one there first`);
}
