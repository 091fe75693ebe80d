/** Hooks of a chart, which run with an apply although they are not objects of the release. */
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { recordOf } from '#contract/schema/is-record.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { helmArguments } from '#protocol/tools/helm/arguments.ts';
import { providerName } from '../cluster/changes.ts';
import { addressOf, identityOf, type KubernetesObject } from '../cluster/objects.ts';
import type { Revision } from './releases.ts';
import {
  changedPlaces,
  hookAnnotation,
  type Rendering,
  type RenderingPath,
  renderedOf,
} from './rendering.ts';

/** Whether the arguments of a verb keep helm from running hooks. */
export function skipsHooks(job: Job, verb: 'upgrade' | 'uninstall'): boolean {
  return helmArguments(runEnvironment(job), verb).some((word) => /^--no-hooks(=true)?$/.test(word));
}

/** Marks of the hooks of a chart in its rendered manifests. */
function hookMap(hooks: readonly KubernetesObject[], namespace: string) {
  return renderedOf({ objects: [], hooks }, namespace);
}

/**
 * The addresses of hooks that are new, changed or gone since the revision that helm compares with.
 * @param unstable places at which two renderings differ
 */
export function changedHooks(
  base: Pick<Revision, 'hooks'> | null,
  { hooks }: Rendering,
  unstable: readonly RenderingPath[],
  namespace: string,
): ReadonlySet<string> {
  const places = changedPlaces(hookMap(base?.hooks ?? [], namespace), hookMap(hooks, namespace), unstable);
  return new Set(places.map(([address]) => String(address)));
}

function eventsOf(hook: KubernetesObject): string[] {
  return String(recordOf(hook.metadata['annotations'])[hookAnnotation])
    .split(',')
    .map((event) => event.trim());
}

/** Rows of the changed hooks that the apply runs. */
export function hookRows(
  { hooks }: Rendering,
  changed: ReadonlySet<string>,
  isInstallation: boolean,
  namespace: string,
): ResourceChange[] {
  const running = isInstallation ? ['pre-install', 'post-install'] : ['pre-upgrade', 'post-upgrade'];
  return hooks.flatMap((hook) => {
    const identity = identityOf(hook, namespace);
    const events = eventsOf(hook).filter((event) => running.includes(event));
    if (events.length === 0 || !changed.has(`hook ${addressOf(identity)}`)) return [];
    return [
      {
        name: identity.name,
        providerName,
        type: `${identity.apiVersion}/${identity.kind}`,
        path: `hook ${addressOf(identity)}`,
        ...(identity.namespace === '' ? {} : { moduleName: identity.namespace }),
        action: 'metadata' as const,
        kind: 'invoke' as const,
        attributes: [],
        actionReason: `the apply runs this hook (${events.join(', ')})`,
      },
    ];
  });
}
