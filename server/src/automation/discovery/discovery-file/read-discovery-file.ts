/** Reads the text of a discovery file. Runs in a thread. */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import {
  type DiscoveryFile,
  type DiscoveryFileError,
  type FileEnvironment,
  unreadableFile,
} from './discovery-file.ts';
import { fieldsProblem, readField, textProblem } from './field-rules.ts';

const mostEnvironments = 5000;

/** Uses of anchors, counted as often as those inside of them. The values that they stand for are shared. */
const mostAliases = 10_000;

type Values = ReadonlyMap<unknown, unknown>;

interface FileText {
  readonly document: Document;
  readonly lines: LineCounter;
  /** The value of `environments`. */
  readonly node: Node;
}

function lineAt(lines: LineCounter, node: unknown): number {
  const offset = typeof node === 'number' ? node : ((node as Node | null)?.range?.[0] ?? 0);
  return Math.max(1, lines.linePos(offset).line);
}

function messageOf({ message }: Error): string {
  return message.replaceAll(/\s+/g, ' ').slice(0, 300);
}

function pairsOf(map: unknown, key: unknown): Pair[] {
  return isMap(map) ? map.items.filter((item) => isScalar(item.key) && item.key.value === key) : [];
}

function resolved({ document }: Pick<FileText, 'document'>, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/** An environment of the file, as it is after its anchors are merged. */
interface FileEntry {
  readonly key: string;
  readonly line: number;
  /** Absent for an environment that is merged. */
  readonly pair: Pair | undefined;
  readonly values: unknown;
}

function entriesOf(text: FileText, found: Values): FileEntry[] {
  const map = resolved(text, text.node);
  const pairs = new Map(
    (isMap(map) ? map.items : []).map((pair) => [isScalar(pair.key) && pair.key.value, pair]),
  );
  return [...found].map(([key, values]) => {
    const pair = pairs.get(key as string);
    return { key: String(key), line: lineAt(text.lines, pair?.key ?? text.node), pair, values };
  });
}

interface ReadEntry {
  readonly environment?: FileEnvironment;
  readonly errors: readonly DiscoveryFileError[];
}

function readEntry(text: FileText, { key, line, pair, values }: FileEntry): ReadEntry {
  const refused = textProblem('the key of an environment', key);
  if (refused !== null) return { errors: [{ key, line, message: refused }] };
  const error = (message: string, at = line) => ({ key, line: at, message: `${key}: ${message}` });
  if (!(values instanceof Map))
    return { errors: [error('an environment must have fields, such as name and templateName')] };
  const own = resolved(text, pair?.value);
  const environment: Record<string, unknown> = { key, line };
  const errors: DiscoveryFileError[] = [];
  for (const [field, value] of values as Values) {
    const result = readField(String(field), value);
    // A field that is merged is named at the environment.
    const [place] = pairsOf(own, field);
    if (typeof result === 'string') errors.push(error(result, place && lineAt(text.lines, place.key)));
    else Object.assign(environment, result);
  }
  const problem = fieldsProblem((name) => values.has(name));
  if (problem !== null) errors.push(error(problem));
  return errors.length > 0 ? { errors } : { environment: environment as unknown as FileEnvironment, errors };
}

/** The place and name of an environment: two of them with the same one would be one environment. */
function identityOf({ projectId, projectNames, name }: FileEnvironment): string {
  return JSON.stringify([projectId ?? projectNames, name.toLowerCase()]);
}

/** Lets the first environment keep a name. */
function withoutCollisions(all: readonly ReadEntry[]): ReadEntry[] {
  const firsts = new Map<string, FileEnvironment>();
  return all.map(({ environment, errors }) => {
    if (environment === undefined) return { errors };
    const { key, line, name } = environment;
    const first = firsts.get(identityOf(environment));
    firsts.set(identityOf(environment), first ?? environment);
    if (first === undefined) return { environment, errors };
    const message = `${key}: its name ${name} is already that of ${first.key} in the same project`;
    return { errors: [{ key, line, message }] };
  });
}

/** Errors of a key that is there twice concern one environment; others make the whole file unreadable. */
function isRepeated({ code }: YAMLError): boolean {
  return code === 'DUPLICATE_KEY';
}

/** Environments with a repeated key, or in which a field is repeated: the file does not say which value is meant. */
function repeatedErrors({ document, lines }: FileText, entries: readonly FileEntry[]): DiscoveryFileError[] {
  return document.errors.map(({ pos: [offset] }) => {
    const line = lineAt(lines, offset);
    const entry = entries.find(({ pair }) => {
      const [from = Infinity] = (pair?.key as Node | undefined)?.range ?? [];
      const [, to = from] = (pair?.value as Node | null | undefined)?.range ?? [];
      return offset >= from && offset <= to;
    });
    const message = 'a key is there twice: keep one of them';
    return entry === undefined
      ? { line, message }
      : { key: entry.key, line, message: `${entry.key}: ${message}` };
  });
}

function readEnvironments(text: FileText): DiscoveryFile {
  const found: unknown = text.node.toJS(text.document, { maxAliasCount: mostAliases, mapAsMap: true });
  const line = lineAt(text.lines, text.node);
  if (!(found instanceof Map))
    return unreadableFile(
      line,
      'environments must have keys, with an environment below each: write {} for none',
    );
  if (found.size > mostEnvironments)
    return unreadableFile(line, `the file has more than ${mostEnvironments} environments`);
  const entries = entriesOf(text, found as Values);
  const repeated = repeatedErrors(text, entries);
  const left = new Set(repeated.map(({ key }) => key));
  const read = withoutCollisions(
    entries.filter(({ key }) => !left.has(key)).map((entry) => readEntry(text, entry)),
  );
  return {
    environments: read.flatMap(({ environment }) => environment ?? []),
    errors: [...repeated, ...read.flatMap(({ errors }) => errors)].toSorted(
      (one, other) => one.line - other.line,
    ),
    keys: entries.map(({ key }) => key),
  };
}

/** The line of the first alias without an anchor, which the library does not tell. */
function lineOfAlias(document: Document, lines: LineCounter): number {
  const anchors = new Set<string>();
  let wrong: Alias | undefined;
  visit(document, {
    Alias: (_, alias) => {
      if (!anchors.has(alias.source)) wrong ??= alias;
    },
    Value: (_, { anchor }) => {
      if (anchor !== undefined) anchors.add(anchor);
    },
  });
  return lineAt(lines, wrong);
}

/** @throws Error for anchors that cannot be resolved, or stand for too much */
function readDocument(document: Document, lines: LineCounter): DiscoveryFile {
  const [broken] = document.errors.filter((error) => !isRepeated(error));
  if (broken !== undefined) return unreadableFile(lineAt(lines, broken.pos[0]), messageOf(broken));
  const [pair, second] = pairsOf(document.contents, 'environments');
  if (second !== undefined)
    return unreadableFile(lineAt(lines, second.key), 'environments is there twice: keep one of them');
  if (pair === undefined)
    return unreadableFile(1, 'the file must have the key environments, with the environments below it');
  // A key in braces may have no value at all.
  return readEnvironments({ document, lines, node: (pair.value ?? pair.key) as Node });
}

/** @returns what the file says; never throws for its contents */
export function readDiscoveryFile(source: string): DiscoveryFile {
  const lines = new LineCounter();
  let document: Document | undefined;
  try {
    document = parseDocument(source, {
      merge: true,
      logLevel: 'error',
      prettyErrors: false,
      lineCounter: lines,
    });
    return readDocument(document, lines);
  } catch (error) {
    const line = document === undefined ? 1 : lineOfAlias(document, lines);
    return unreadableFile(line, messageOf(error as Error));
  }
}
