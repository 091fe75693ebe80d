/** Places in a template that name files of the repository. */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';
import {
  type ArtifactProperty,
  artifactProperties,
  includeProperty,
  metadataProperties,
} from './properties.ts';

/** A value that is a path or an address, or has to become one. */
export interface ArtifactReference {
  readonly property: ArtifactProperty;
  /** The logical id, or what else has the property. */
  readonly owner: string;
  /** The property with all names of its path, such as `Command.ScriptLocation`. */
  readonly name: string;
  /** Null: the property is missing, and `within` is where it belongs. */
  readonly value: Node | null;
  readonly within: YAMLMap;
}

const serverless = 'AWS::Serverless::';

/** Reads nodes of a document. */
class Reader {
  readonly #document: Document;

  constructor(document: Document) {
    this.#document = document;
  }

  /** Target of an alias, or the node itself. */
  resolved(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  mapOf(node: unknown): YAMLMap | null {
    const found = this.resolved(node);
    // Those with a tag are functions.
    return isMap(found) && found.tag?.startsWith('!') !== true ? found : null;
  }

  /** Own entries, then those of merged maps. */
  entries(map: YAMLMap): { readonly key: string; readonly pair: Pair }[] {
    const own = map.items.flatMap((pair) =>
      isScalar(pair.key) && typeof pair.key.value === 'string' ? [{ key: pair.key.value, pair }] : [],
    );
    const merged = map.items
      .filter((pair) => isScalar(pair.key) && pair.key.source === '<<')
      .flatMap((pair) => {
        const value = this.resolved(pair.value);
        return isSeq(value) ? value.items : [value];
      })
      .flatMap((each) => {
        const found = this.mapOf(each);
        return found === null || found === map ? [] : this.entries(found);
      });
    const keys = new Set(own.map(({ key }) => key));
    return [...own, ...merged.filter(({ key }) => !keys.has(key))];
  }

  /** @returns undefined if the map has no such entry */
  child(map: YAMLMap, name: string): unknown {
    const found = this.entries(map).find(({ key }) => key === name);
    return found === undefined ? undefined : this.resolved(found.pair.value);
  }

  text(map: YAMLMap, name: string): string | null {
    const value = this.child(map, name);
    return isScalar(value) && typeof value.value === 'string' ? value.value : null;
  }
}

/** The values at a path, with their names. */
function valuesAt(
  reader: Reader,
  map: YAMLMap,
  [name = '', ...rest]: readonly string[],
): { readonly name: string; readonly value: Node | null; readonly within: YAMLMap }[] {
  const keys = name === '*' ? reader.entries(map).map(({ key }) => key) : [name];
  return keys.flatMap((key) => {
    const value = reader.child(map, key);
    if (rest.length > 0) {
      const inner = reader.mapOf(value);
      if (inner === null) return [];
      return valuesAt(reader, inner, rest).map((each) => ({ ...each, name: `${key}.${each.name}` }));
    }
    // AWS says what it thinks of an empty value.
    if (isScalar(value) && (value.value ?? '') === '') return [];
    return [{ name: key, value: value === undefined ? null : (value as Node), within: map }];
  });
}

/** Resources, those of loops too. */
function resourcesIn(reader: Reader, resources: YAMLMap): { readonly id: string; readonly map: YAMLMap }[] {
  return reader.entries(resources).flatMap(({ key, pair }) => {
    const value = reader.resolved(pair.value);
    if (!key.startsWith('Fn::ForEach::')) {
      const map = reader.mapOf(value);
      return map === null ? [] : [{ id: key, map }];
    }
    const body = isSeq(value) ? reader.mapOf(value.items[2]) : null;
    return body === null ? [] : resourcesIn(reader, body);
  });
}

/** Places in properties. @param shared those that all resources of the type have, of the section `Globals` */
function placesIn(
  reader: Reader,
  owner: string,
  properties: YAMLMap,
  known: readonly ArtifactProperty[],
  shared: YAMLMap | null = null,
): ArtifactReference[] {
  return known.flatMap((property) => {
    const says = (name: string) =>
      [properties, shared].some((map) => map !== null && reader.child(map, name) !== undefined);
    return valuesAt(reader, properties, property.path).flatMap((found): ArtifactReference[] => {
      if (found.value !== null) return [{ property, owner, ...found }];
      if (property.isFolderUnless === undefined) return [];
      return [...property.isFolderUnless, ...property.path].some(says) ? [] : [{ property, owner, ...found }];
    });
  });
}

function includesIn(reader: Reader, node: unknown): ArtifactReference[] {
  const found = reader.resolved(node);
  if (isSeq(found)) return found.items.flatMap((item) => includesIn(reader, item));
  if (!isMap(found) || reader.text(found, 'Name') !== includeProperty.type) return [];
  const parameters = reader.mapOf(reader.child(found, 'Parameters'));
  return parameters === null ? [] : placesIn(reader, includeProperty.type, parameters, [includeProperty]);
}

function allIncludes(reader: Reader, document: Document, root: YAMLMap): ArtifactReference[] {
  const found = includesIn(reader, reader.child(root, 'Transform'));
  visit(document, (_, node) => {
    if (isPair(node) && isScalar(node.key) && node.key.value === 'Fn::Transform')
      found.push(...includesIn(reader, node.value));
    if (isMap(node) && node.tag === '!Transform') found.push(...includesIn(reader, node));
  });
  return found;
}

/** Values that every resource of a serverless type has, such as `Globals.Function.CodeUri`. */
function globalPlaces(reader: Reader, globals: YAMLMap): ArtifactReference[] {
  return reader.entries(globals).flatMap(({ key, pair }) => {
    const properties = reader.mapOf(pair.value);
    const known = artifactProperties.filter(({ type }) => type === `${serverless}${key}`);
    if (properties === null) return [];
    return placesIn(reader, `Globals.${key}`, properties, known).filter(({ value }) => value !== null);
  });
}

/** All places of a template; none where it has no known form, which AWS says then. */
export function findPlaces(document: Document): ArtifactReference[] {
  const reader = new Reader(document);
  const root = reader.mapOf(document.contents);
  if (root === null) return [];
  const section = (name: string) => reader.mapOf(reader.child(root, name));
  const [resources, globals, metadata] = [section('Resources'), section('Globals'), section('Metadata')];
  const found: ArtifactReference[] = [];
  for (const { id, map } of resources === null ? [] : resourcesIn(reader, resources)) {
    const type = reader.text(map, 'Type') ?? '';
    const properties = reader.mapOf(reader.child(map, 'Properties'));
    const known = artifactProperties.filter((each) => each.type === type);
    const shared = globals && reader.mapOf(reader.child(globals, type.slice(serverless.length)));
    if (properties !== null) found.push(...placesIn(reader, id, properties, known, shared));
  }
  if (globals !== null) found.push(...globalPlaces(reader, globals));
  for (const property of metadata === null ? [] : metadataProperties) {
    const properties = metadata && reader.mapOf(reader.child(metadata, property.type));
    if (properties) found.push(...placesIn(reader, property.type, properties, [property]));
  }
  return [...found, ...allIncludes(reader, document, root)];
}
