/** A plan in its common form as approval policies receive it: in the form of terraform. */
import type { Plan, ResourceChange } from '#contract/deployments/plan.ts';
import { kindOf } from '#contract/deployments/plan-counts.ts';

/** Maximum size of the policies' input, as JSON: opa needs about ten times as much memory. */
export const mostPolicyInputBytes = 32_000_000;

/** Terraform's names of the actions of a change. */
const actions: Readonly<Record<ResourceChange['action'], readonly string[]>> = {
  create: ['create'],
  update: ['update'],
  delete: ['delete'],
  recreate: ['delete', 'create'],
  metadata: ['no-op'],
};

/**
 * Terraform's names of changes to a resource. Kinds without such a name keep that of the kind: only a change
 * that leaves the resource as it is has no action.
 */
function actionsOf(change: ResourceChange): readonly string[] {
  const main = change.action === 'metadata' ? [] : actions[change.action];
  switch (kindOf(change)) {
    case 'forget':
      return ['forget', ...main];
    case 'unknown':
      return [...main, 'unknown'];
    case 'invoke':
      return [...main, 'invoke'];
    case 'update':
      return actions.update;
    default:
      return actions[change.action];
  }
}

/** The plan of a tool with a form of its own, in that of terraform: attributes that change. */
export function commonPolicyPlan({ resourceChanges, outputChanges }: Plan): Record<string, unknown> {
  const side = (change: ResourceChange, which: 'before' | 'after') =>
    Object.fromEntries(
      change.attributes.flatMap((each) => (each[which] === undefined ? [] : [[each.name, each[which]]])),
    );
  return {
    resource_changes: resourceChanges.map((change) => ({
      address: change.path,
      ...(change.moduleName === undefined ? {} : { module_address: change.moduleName }),
      ...(change.previousAddress === undefined ? {} : { previous_address: change.previousAddress }),
      mode: 'managed',
      type: change.type,
      name: change.name,
      provider_name: change.providerName,
      kind: kindOf(change),
      change: {
        actions: actionsOf(change),
        ...(change.importing === undefined ? {} : { importing: change.importing }),
        before: change.action === 'create' ? null : side(change, 'before'),
        after: change.action === 'delete' ? null : side(change, 'after'),
      },
    })),
    output_changes: Object.fromEntries(
      outputChanges.map(({ name, action }) => [name, { actions: [action] }]),
    ),
  };
}
