/** Applies the operations of a PATCH (RFC 7644, 3.5.2) to the values of a resource. */
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { canonical, canonicalName } from './canonical.ts';
import { elementFor, type Filter, matches, parseElementFilter, withoutSchema } from './filter.ts';
import { RequestBudget } from './request-budget.ts';
import type { ResourceType } from './resource.ts';

type PatchValues = Record<string, unknown>;
const verbs = ['add', 'replace', 'remove'] as const;
type PatchVerb = (typeof verbs)[number];

const mostOperations = 1000;

/** Attributes of each type; those of people with parts, and lists. */
const kept: Readonly<Record<ResourceType, ReadonlySet<string>>> = {
  User: new Set(['userName', 'externalId', 'name', 'displayName', 'emails', 'active']),
  Group: new Set(['displayName', 'externalId', 'members']),
};
const lists = new Set(['emails', 'members']);

/** Attributes that providers send by default and the service does not keep: ignored, in lower case. */
const ignored = new Set(
  `nickName profileUrl title userType preferredLanguage locale timezone password phoneNumbers ims photos addresses
  groups entitlements roles x509Certificates honorificPrefix honorificSuffix middleName schemas`
    .toLowerCase()
    .split(/\s+/),
);

interface PatchTarget {
  readonly name: string;
  readonly filter: Filter | null;
  readonly part: string | null;
}

/** @returns null for an attribute that is ignored. @throws ScimRefusal 400 */
function targetOf(path: string, type: ResourceType): PatchTarget | null {
  const plain = withoutSchema(path.trim());
  if (/^urn:/i.test(plain)) return null;
  const match = /^([$\w]+)(?:\[(.*)\])?(?:\.([$\w]+))?$/s.exec(plain);
  const [, attribute = '', inside, part] = match ?? [];
  if (ignored.has(attribute.toLowerCase())) return null;
  if (/^(id|meta)$/i.test(attribute)) throw new ScimRefusal('mutability', `${attribute} cannot be changed`);
  const name = canonicalName(attribute);
  if (name === undefined || !kept[type].has(name))
    throw new ScimRefusal('invalidPath', `A ${type} does not have the attribute "${path}"`);
  if (part !== undefined && ignored.has(part.toLowerCase())) return null;
  const hasParts = name === 'name' || lists.has(name);
  const own = part === undefined ? null : part.toLowerCase() === '$ref' ? '$ref' : canonicalName(part);
  if (own === undefined || (own !== null && !hasParts) || (inside !== undefined && !lists.has(name)))
    throw new ScimRefusal('invalidPath', `A ${type} does not have the attribute "${path}"`);
  return { name, filter: inside === undefined ? null : parseElementFilter(inside), part: own };
}

function listAt(values: PatchValues, name: string): PatchValues[] {
  return (values[name] ?? []) as PatchValues[];
}

function asList(value: unknown): PatchValues[] {
  const elements = (Array.isArray(value) ? (value as unknown[]) : [value]).filter((each) => each !== null);
  if (!elements.every((each) => typeof each === 'object'))
    throw new ScimRefusal('invalidValue', 'The elements of a list are objects with a value');
  return elements as PatchValues[];
}

/** Those that are there already are replaced. */
function withAdded(list: readonly PatchValues[], added: readonly PatchValues[]): PatchValues[] {
  const isOnlyPrimary = added.some((each) => each['primary'] === true);
  const byValue = new Map(
    list.map((each) => [
      each['value'],
      isOnlyPrimary && each['primary'] ? { ...each, primary: false } : each,
    ]),
  );
  for (const each of added) byValue.set(each['value'], { ...byValue.get(each['value']), ...each });
  return [...byValue.values()];
}

function changeList(values: PatchValues, verb: PatchVerb, name: string, value: unknown): void {
  if (verb === 'replace') values[name] = asList(value ?? []);
  else if (verb === 'add') values[name] = withAdded(listAt(values, name), asList(value ?? []));
  else if (value === undefined || value === null) delete values[name];
  else {
    const gone = new Set(asList(value).map((each) => each['value']));
    values[name] = listAt(values, name).filter((each) => !gone.has(each['value']));
  }
}

function changed(element: PatchValues, verb: PatchVerb, part: string, value: unknown): PatchValues {
  const { [part]: _before, ...others } = element;
  return verb === 'remove' ? others : { ...others, [part]: value };
}

/** Elements of a list that a filter selects, or a part of all of them. */
function changeElements(
  values: PatchValues,
  verb: PatchVerb,
  { name, filter, part }: PatchTarget,
  value: unknown,
  budget: RequestBudget,
): void {
  const list = listAt(values, name);
  const meant = new Set(filter === null ? list : list.filter((each) => matches(filter, each, budget)));
  const isMeant = (element: PatchValues) => meant.has(element);
  if (meant.size === 0) {
    if (verb === 'remove') return;
    if (verb === 'replace' && filter !== null)
      throw new ScimRefusal('noTarget', `No element of ${name} is what the filter of the path asks for`);
    const fresh = filter === null ? {} : elementFor(filter);
    values[name] = [...list, part === null ? { ...fresh, ...asList(value)[0] } : { ...fresh, [part]: value }];
    return;
  }
  if (part !== null)
    values[name] = list.map((each) => (isMeant(each) ? changed(each, verb, part, value) : each));
  else if (verb === 'remove') values[name] = list.filter((each) => !isMeant(each));
  else values[name] = list.map((each) => (isMeant(each) ? { ...each, ...asList(value)[0] } : each));
}

function applyAt(
  values: PatchValues,
  verb: PatchVerb,
  target: PatchTarget,
  value: unknown,
  budget: RequestBudget,
): void {
  const { name, filter, part } = target;
  if (name === 'active' && verb === 'remove')
    throw new ScimRefusal('mutability', 'active cannot be removed: replace it by false');
  if (lists.has(name)) {
    if (filter === null) budget.spend(listAt(values, name).length);
    if (filter === null && part === null) changeList(values, verb, name, value);
    else changeElements(values, verb, target, value, budget);
  } else if (part !== null) values[name] = changed((values[name] ?? {}) as PatchValues, verb, part, value);
  else if (verb === 'remove') delete values[name];
  else if (name === 'name' && typeof value === 'object' && value !== null)
    values[name] = { ...(values[name] as PatchValues | undefined), ...value };
  else values[name] = value;
}

function apply(values: PatchValues, type: ResourceType, operation: unknown, budget: RequestBudget): void {
  const { op, path, value } = (canonicalOperation(operation) ?? {}) as Record<string, unknown>;
  const verb = verbs.find((each) => typeof op === 'string' && each === op.toLowerCase());
  if (verb === undefined) throw new ScimRefusal('invalidSyntax', 'op must be add, replace or remove');
  if (path !== undefined && path !== null && typeof path !== 'string')
    throw new ScimRefusal('invalidPath', 'path must be a string');
  if (typeof path === 'string' && path.trim() !== '') {
    const target = targetOf(path, type);
    if (target !== null) applyAt(values, verb, target, canonical(value), budget);
    return;
  }
  if (verb === 'remove') throw new ScimRefusal('noTarget', 'A removal needs a path');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ScimRefusal('invalidValue', 'Without a path, value must be an object of attributes');
  for (const [key, inner] of Object.entries(value)) {
    // A resource that was read is sent back as a whole by some.
    if (/^(id|meta)$/i.test(key)) continue;
    const target = targetOf(key, type);
    if (target !== null) applyAt(values, verb, target, canonical(inner), budget);
  }
}

/** Its own fields, in any case; the value as it is, because its names may be paths. */
function canonicalOperation(operation: unknown): unknown {
  if (typeof operation !== 'object' || operation === null) return null;
  return Object.fromEntries(
    Object.entries(operation).map(([name, value]) => [canonicalName(name) ?? name, value as unknown]),
  );
}

/**
 * @param values of the resource, which stay as they are
 * @param body of the request
 * @returns the values afterwards, to be checked like those of a PUT
 * @throws ScimRefusal 400 with the kind of RFC 7644
 */
export function applyPatch(values: object, type: ResourceType, body: unknown): PatchValues {
  const { Operations: operations } = (canonicalOperation(body) ?? {}) as Record<string, unknown>;
  if (!Array.isArray(operations) || operations.length === 0)
    throw new ScimRefusal('invalidSyntax', 'Operations must be a list of at least one operation');
  if (operations.length > mostOperations)
    throw new ScimRefusal('tooMany', `A request has at most ${mostOperations} operations`);
  const after = structuredClone(values) as PatchValues;
  const budget = new RequestBudget();
  for (const operation of operations as unknown[]) apply(after, type, operation, budget);
  return after;
}
