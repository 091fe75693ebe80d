/** For tests: the changes that a change set finds. */
import { isDeepStrictEqual } from 'node:util';
import { type Cloud, needsReplacement } from './cloud.ts';
import { type Stack, type StackInput, type StackResource, shownValue } from './stack.ts';
import { type DeclaredResource, evaluate, inOrder, namesIn, type Scope } from './template.ts';

/** Placeholder of AWS for values that it does not know before. */
const unknown = '{{changeSet:KNOWN_AFTER_APPLY}}';

export interface PropertyDetail {
  readonly name: string;
  readonly recreation: 'Always' | 'Never' | 'Conditionally';
  readonly evaluation: 'Static' | 'Dynamic';
  readonly source: 'DirectModification' | 'ParameterReference' | 'ResourceReference';
  readonly cause: string | undefined;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ResourceChange {
  readonly action: 'Add' | 'Modify' | 'Remove';
  readonly logicalId: string;
  readonly physicalId: string | undefined;
  readonly type: string;
  readonly replacement: 'True' | 'False' | 'Conditional' | undefined;
  readonly policy: string | undefined;
  readonly details: readonly PropertyDetail[];
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>> | undefined;
  /** Only of change sets that undo drift. */
  readonly drift: 'IN_SYNC' | 'MODIFIED' | 'DELETED' | undefined;
}

/** As values are shown: hidden parameters are masked. */
function shownScope(stack: Stack, input: StackInput, replaced: ReadonlySet<string>): Scope {
  const of = (name: string) => {
    const parameter = input.template.parameters.find((each) => each.name === name);
    if (parameter !== undefined) return shownValue(parameter, input.parameters);
    if (name === 'AWS::StackName') return stack.name;
    if (name === 'AWS::Region') return 'eu-west-1';
    const known = stack.resources.get(name);
    return known === undefined || replaced.has(name) ? unknown : known.physicalId;
  };
  return {
    ref: of,
    attribute: (name, attribute) => (of(name) === unknown ? unknown : `${String(of(name))}.${attribute}`),
  };
}

function propertiesOf(value: unknown): Readonly<Record<string, unknown>> {
  return value as Readonly<Record<string, unknown>>;
}

function detailsOf(
  {
    now,
    declared,
    input,
    changed,
  }: {
    readonly now: Readonly<Record<string, unknown>>;
    readonly declared: DeclaredResource;
    readonly input: StackInput;
    readonly changed: ReadonlySet<string>;
  },
  after: Readonly<Record<string, unknown>>,
  real: Readonly<Record<string, unknown>>,
): PropertyDetail[] {
  const names = new Set([...Object.keys(now), ...Object.keys(real)]);
  return [...names].flatMap((name): PropertyDetail[] => {
    const used = namesIn(declared.properties[name]);
    const resource = used.find((each) => changed.has(each));
    const parameter = used.find((each) => input.template.parameters.some((known) => known.name === each));
    const isDirect = !isDeepStrictEqual(now[name], real[name]);
    if (!isDirect && resource === undefined) return [];
    const isFixed = needsReplacement(declared.type, name);
    const isDynamic = resource !== undefined && !isDirect;
    return [
      {
        name,
        recreation: isFixed ? (isDynamic ? 'Conditionally' : 'Always') : 'Never',
        evaluation: isDynamic ? 'Dynamic' : 'Static',
        source:
          resource !== undefined
            ? 'ResourceReference'
            : parameter
              ? 'ParameterReference'
              : 'DirectModification',
        cause: resource ?? parameter,
        before: now[name],
        after: after[name],
      },
    ];
  });
}

function addition(declared: DeclaredResource, after: Readonly<Record<string, unknown>>): ResourceChange {
  const { logicalId, type } = declared;
  return {
    action: 'Add',
    logicalId,
    type,
    physicalId: undefined,
    replacement: undefined,
    policy: undefined,
    details: [],
    before: undefined,
    after,
    drift: undefined,
  };
}

function removal(resource: StackResource): ResourceChange {
  const { logicalId, physicalId, type, wanted, deletionPolicy } = resource;
  return {
    action: 'Remove',
    logicalId,
    physicalId,
    type,
    replacement: undefined,
    policy: deletionPolicy,
    details: [],
    before: wanted,
    after: undefined,
    drift: undefined,
  };
}

function replacementOf(details: readonly PropertyDetail[]): 'True' | 'False' | 'Conditional' {
  if (details.some(({ recreation }) => recreation === 'Always')) return 'True';
  return details.some(({ recreation }) => recreation === 'Conditionally') ? 'Conditional' : 'False';
}

/** Hidden values of what a stack has already are masked as AWS masks them. */
function maskedIn(value: Readonly<Record<string, unknown>>, stack: Stack): Readonly<Record<string, unknown>> {
  const { input } = stack;
  const secrets = (input?.template.parameters ?? [])
    .filter(({ isHidden }) => isHidden)
    .map(({ name }) => input?.parameters.get(name) ?? '')
    .filter((text) => text !== '');
  let text = JSON.stringify(value);
  for (const secret of secrets) text = text.replaceAll(JSON.stringify(secret).slice(1, -1), '****');
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** The real values of properties, where they are known before. */
function realScope(stack: Stack, input: StackInput, replaced: ReadonlySet<string>): Scope {
  const shown = shownScope(stack, input, replaced);
  return { ...shown, ref: (name) => input.parameters.get(name) ?? shown.ref(name) };
}

/** Drift of a resource, and its current properties. */
function stateOf(
  resource: StackResource,
  cloud: Cloud | null,
): { readonly drift: ResourceChange['drift']; readonly now: Readonly<Record<string, unknown>> } {
  if (cloud === null || resource.nested !== null) return { drift: undefined, now: resource.wanted };
  const differences = cloud.differences(resource.physicalId, resource.wanted);
  if (differences === null) return { drift: 'DELETED', now: {} };
  const actual = Object.fromEntries(differences.map(({ path, actual: value }) => [path.slice(1), value]));
  return { drift: differences.length > 0 ? 'MODIFIED' : 'IN_SYNC', now: { ...resource.wanted, ...actual } };
}

interface Comparison {
  readonly stack: Stack;
  readonly input: StackInput;
  readonly cloud: Cloud | null;
  /** Logical ids of what is replaced. */
  readonly replaced: Set<string>;
  readonly haveNewTags: boolean;
}

function changeTo(declared: DeclaredResource, comparison: Comparison): ResourceChange | null {
  const { stack, input, cloud, replaced, haveNewTags } = comparison;
  const { logicalId, type } = declared;
  const after = propertiesOf(evaluate(declared.properties, shownScope(stack, input, replaced)));
  const resource = stack.resources.get(logicalId);
  if (resource === undefined) return addition(declared, after);
  const { drift, now } = stateOf(resource, cloud);
  if (drift === 'DELETED') return { ...addition(declared, after), drift };
  const real = propertiesOf(evaluate(declared.properties, realScope(stack, input, replaced)));
  const details = detailsOf({ now, declared, input, changed: replaced }, after, real);
  if (details.length === 0 && !haveNewTags) return null;
  const replacement = replacementOf(details);
  if (replacement === 'True') replaced.add(logicalId);
  return {
    action: 'Modify',
    logicalId,
    physicalId: resource.physicalId,
    type,
    replacement,
    policy: replacement === 'True' ? 'ReplaceAndDelete' : undefined,
    details: details.map((each) => ({ ...each, before: maskedIn({ it: each.before ?? null }, stack)['it'] })),
    before: maskedIn(now, stack),
    after,
    drift,
  };
}

/** Changes of a deployment to the resources of a stack. @param cloud where drift is undone; null: it is not */
export function changesOf(stack: Stack, input: StackInput, cloud: Cloud | null): ResourceChange[] {
  const haveNewTags = stack.input !== null && !isDeepStrictEqual(stack.input.tags, input.tags);
  const comparison = { stack, input, cloud, replaced: new Set<string>(), haveNewTags };
  const found = inOrder(input.template.resources).flatMap((declared) => changeTo(declared, comparison) ?? []);
  const wanted = new Set(input.template.resources.map(({ logicalId }) => logicalId));
  const removed = [...stack.resources.values()].filter(({ logicalId }) => !wanted.has(logicalId));
  return [
    ...found,
    ...removed.map((resource) => ({ ...removal(resource), before: maskedIn(resource.wanted, stack) })),
  ];
}
