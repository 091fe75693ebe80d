/** A plan as approval policies get it: as the tool shows it, without the values that it marks as sensitive. */
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { sensitiveText } from '../interface/plan-values.ts';
import { inner, sensitiveTexts } from './attributes.ts';
import type { TerraformPlan } from './plan-json.ts';

type PlanFragment = Readonly<Record<string, unknown>>;

function listOf(value: unknown): PlanFragment[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

/** Replaces sensitive parts of single values. */
function hide(value: unknown, sensitive: unknown, known: ReadonlySet<string>): unknown {
  if (sensitive === true) return value === null || value === undefined ? value : sensitiveText;
  if (typeof value === 'string') return known.has(value) ? sensitiveText : value;
  if (Array.isArray(value)) return value.map((part, at) => hide(part, inner(sensitive, at), known));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, hide(part, inner(sensitive, key), known)]),
  );
}

function changeOf(change: PlanFragment, known: ReadonlySet<string>): PlanFragment {
  const side = (name: 'before' | 'after') =>
    name in change ? { [name]: hide(change[name], change[`${name}_sensitive`], known) } : {};
  return { ...change, ...side('before'), ...side('after') };
}

/** Modules of a state or of planned values, which contain each other. */
function moduleOf(part: PlanFragment, known: ReadonlySet<string>): PlanFragment {
  const resources = listOf(part['resources']).map((each) => ({
    ...each,
    values: hide(each['values'], each['sensitive_values'], known),
  }));
  const modules = listOf(part['child_modules']).map((each) => moduleOf(each, known));
  return {
    ...part,
    ...(part['resources'] === undefined ? {} : { resources }),
    ...(part['child_modules'] === undefined ? {} : { child_modules: modules }),
  };
}

function valuesOf(part: PlanFragment, known: ReadonlySet<string>): PlanFragment {
  const outputs = Object.entries(recordOf(part['outputs'])).map(([name, output]) => {
    const { value, sensitive, ...others } = recordOf(output);
    return [name, { ...others, sensitive, value: hide(value, sensitive, known) }];
  });
  return {
    ...part,
    ...(part['outputs'] === undefined ? {} : { outputs: Object.fromEntries(outputs) as PlanFragment }),
    ...(part['root_module'] === undefined
      ? {}
      : { root_module: moduleOf(recordOf(part['root_module']), known) }),
  };
}

function variablesOf(plan: PlanFragment, known: ReadonlySet<string>): PlanFragment {
  const declared = recordOf(recordOf(recordOf(plan['configuration'])['root_module'])['variables']);
  return Object.fromEntries(
    Object.entries(recordOf(plan['variables'])).map(([name, variable]) => {
      const { value } = recordOf(variable);
      return [name, { value: hide(value, recordOf(declared[name])['sensitive'], known) }];
    }),
  );
}

function invocationOf(invocation: PlanFragment, known: ReadonlySet<string>): PlanFragment {
  const values = hide(invocation['config_values'], invocation['config_sensitive'], known);
  return { ...invocation, ...('config_values' in invocation ? { config_values: values } : {}) };
}

/** Actions of providers, and what is deferred. */
function laterParts(all: PlanFragment, known: ReadonlySet<string>): PlanFragment {
  const each = (name: string, shown: (part: PlanFragment) => PlanFragment) =>
    all[name] === undefined ? {} : { [name]: listOf(all[name]).map(shown) };
  const deferred = (inside: string, shown: (part: PlanFragment) => PlanFragment) => (part: PlanFragment) => ({
    ...part,
    [inside]: shown(recordOf(part[inside])),
  });
  const resource = (part: PlanFragment) => ({ ...part, change: changeOf(recordOf(part['change']), known) });
  const invocation = (part: PlanFragment) => invocationOf(part, known);
  return {
    ...each('action_invocations', invocation),
    ...each('deferred_changes', deferred('resource_change', resource)),
    ...each('deferred_action_invocations', deferred('action_invocation', invocation)),
  };
}

/** @param plan as the tool shows it, format 1 */
export function policyPlan(plan: TerraformPlan): Record<string, unknown> {
  const all: PlanFragment = { ...plan };
  const known = sensitiveTexts([plan]);
  const changed = (name: string) =>
    all[name] === undefined
      ? {}
      : {
          [name]: listOf(all[name]).map((each) => ({
            ...each,
            change: changeOf(recordOf(each['change']), known),
          })),
        };
  const outputs = Object.entries(recordOf(all['output_changes'])).map(([name, change]) => [
    name,
    changeOf(recordOf(change), known),
  ]);
  const prior = recordOf(all['prior_state']);
  return {
    ...(hide({ ...all, variables: undefined }, undefined, known) as PlanFragment),
    ...changed('resource_changes'),
    ...changed('resource_drift'),
    ...laterParts(all, known),
    ...(all['output_changes'] === undefined
      ? {}
      : { output_changes: Object.fromEntries(outputs) as PlanFragment }),
    ...(all['planned_values'] === undefined
      ? {}
      : { planned_values: valuesOf(recordOf(all['planned_values']), known) }),
    ...(all['prior_state'] === undefined
      ? {}
      : { prior_state: { ...prior, values: valuesOf(recordOf(prior['values']), known) } }),
    ...(all['variables'] === undefined ? {} : { variables: variablesOf(all, known) }),
  };
}
