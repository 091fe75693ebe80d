/** The parts of the output of `terraform show -json` for a saved plan that are read; format 1.x. */
import { parseExactly } from '#contract/schema/exact-json.ts';

/** Actions that current versions can plan; later ones may add to them. */
export type PlanAction = 'no-op' | 'create' | 'read' | 'update' | 'delete' | 'forget' | (string & {});

export interface TerraformChange {
  readonly actions: readonly PlanAction[];
  readonly before?: unknown;
  readonly after?: unknown;
  readonly after_unknown?: unknown;
  readonly before_sensitive?: unknown;
  readonly after_sensitive?: unknown;
  /** `identity`: instead of the id, with providers that have one. */
  readonly importing?: { readonly id?: string; readonly identity?: unknown };
  /** Of what forces a replacement: each begins with the name of an attribute. */
  readonly replace_paths?: readonly (readonly (string | number)[])[];
}

export interface TerraformResourceChange {
  readonly address: string;
  readonly previous_address?: string;
  readonly module_address?: string;
  readonly mode: 'managed' | 'data' | 'ephemeral';
  readonly type: string;
  readonly name: string;
  readonly provider_name: string;
  readonly deposed?: string;
  readonly change: TerraformChange;
  readonly action_reason?: string;
}

/** A run of an action of a provider; since terraform 1.14. */
export interface ActionInvocation {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  readonly provider_name: string;
  readonly config_values?: unknown;
  readonly config_sensitive?: unknown;
  readonly lifecycle_action_trigger?: {
    readonly triggering_resource_address?: string;
    readonly action_trigger_event?: string;
  };
}

export interface TerraformPlan {
  readonly format_version: string;
  readonly terraform_version: string;
  readonly resource_changes?: readonly TerraformResourceChange[];
  readonly resource_drift?: readonly TerraformResourceChange[];
  readonly deferred_changes?: readonly {
    readonly reason: string;
    readonly resource_change: TerraformResourceChange;
  }[];
  readonly action_invocations?: readonly ActionInvocation[];
  readonly deferred_action_invocations?: readonly {
    readonly reason: string;
    readonly action_invocation: ActionInvocation;
  }[];
  readonly output_changes?: Readonly<Record<string, TerraformChange>>;
  readonly applyable?: boolean;
  readonly prior_state?: { readonly values?: { readonly outputs?: Readonly<Record<string, unknown>> } };
}

/** @throws an Error if the text is not a plan of format 1 */
export function parseTerraformPlan(text: string): TerraformPlan {
  const plan = parseExactly(text) as TerraformPlan;
  if (typeof plan?.format_version !== 'string' || !plan.format_version.startsWith('1.')) {
    throw new Error(
      `terraform show -json returned format ${String(plan?.format_version)}; only format 1 can be read`,
    );
  }
  return plan;
}
