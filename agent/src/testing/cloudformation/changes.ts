/** For tests: the changes that a change set finds. */
import { isDeepStrictEqual } from 'node:util';
import { needsReplacement } from './cloud.ts';
import { shownValue, type Stack, type StackInput, type StackResource } from './stack.ts';
import { type DeclaredResource, evaluate, inOrder, namesIn, type Scope } from './template.ts';

/** What AWS shows of values that it does not know before. */
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

/** What a deployment would do to the resources of a stack. */
export function changesOf(stack: Stack, input: StackInput): ResourceChange[] {
  const found: ResourceChange[] = [];
  const changed = new Set<string>();
  const haveNewTags = stack.input !== null && !isDeepStrictEqual(stack.input.tags, input.tags);
  for (const declared of inOrder(input.template.resources)) {
    const after = propertiesOf(evaluate(declared.properties, shownScope(stack, input, changed)));
    const resource = stack.resources.get(declared.logicalId);
    if (resource === undefined) {
      found.push(addition(declared, after));
      continue;
    }
    const real = propertiesOf(evaluate(declared.properties, realScope(stack, input, changed)));
    const details = detailsOf({ now: resource.wanted, declared, input, changed }, after, real);
    if (details.length === 0 && !haveNewTags) continue;
    const replacement = replacementOf(details);
    if (replacement === 'True') changed.add(declared.logicalId);
    found.push({
      action: 'Modify',
      logicalId: declared.logicalId,
      physicalId: resource.physicalId,
      type: declared.type,
      replacement,
      policy: replacement === 'True' ? 'ReplaceAndDelete' : undefined,
      details: details.map((each) => ({
        ...each,
        before: maskedIn({ it: each.before ?? null }, stack)['it'],
      })),
      before: maskedIn(resource.wanted, stack),
      after,
    });
  }
  const wanted = new Set(input.template.resources.map(({ logicalId }) => logicalId));
  for (const resource of stack.resources.values())
    if (!wanted.has(resource.logicalId))
      found.push({ ...removal(resource), before: maskedIn(resource.wanted, stack) });
  return found;
}
