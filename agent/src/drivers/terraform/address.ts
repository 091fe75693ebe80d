/** A resource instance's address in its parts. */
export interface ResourceAddress {
  /** As terraform writes it, with module and index. */
  readonly address: string;
  /** Address of the module; empty for the root module. */
  readonly moduleName: string;
  readonly mode: 'managed' | 'data' | 'ephemeral';
  readonly type: string;
  readonly name: string;
  /** `["key"]` or `[0]` as written; empty if there is none. */
  readonly index: string;
}

const identifier = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;
const index = /\[(?:\d+|"(?:[^"\\]|\\.)*")\]/uy;

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

interface AddressPart {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly index: string;
}

function readParts(text: string, from: number): AddressPart[] {
  const parts: AddressPart[] = [];
  for (let at = from; ; at += 1) {
    const name = match(identifier, text, at);
    if (name === '') return parts;
    const key = match(index, text, at + name.length);
    const end = at + name.length + key.length;
    parts.push({ start: at, end, name, index: key });
    if (text[end] !== '.') return parts;
    at = end;
  }
}

/**
 * Reads the address at a position in a text; keys may contain dots, quotes and brackets.
 * @returns the address and its end; null if there is none
 */
export function readAddress(text: string, from = 0): { value: ResourceAddress; end: number } | null {
  const parts = readParts(text, from);
  let next = 0;
  while (parts[next]?.name === 'module' && parts[next]?.index === '' && parts[next + 1]) next += 2;
  const moduleName = next === 0 ? '' : text.slice(from, parts[next - 1]!.end);
  const word = parts[next];
  const mode =
    (word?.name === 'data' || word?.name === 'ephemeral') && parts.length === next + 3
      ? word.name
      : 'managed';
  if (mode !== 'managed') next += 1;
  const type = parts[next];
  const name = parts[next + 1];
  if (!type || !name || type.index !== '' || parts.length !== next + 2) return null;
  const value = {
    address: text.slice(from, name.end),
    moduleName,
    mode,
    type: type.name,
    name: name.name,
    index: name.index,
  } as const;
  return { value, end: name.end };
}

/**
 * The provider that a resource type belongs to unless the code specifies one: the part before the first
 * `_`.
 */
export function impliedProvider(type: string): string {
  return type.split('_', 1)[0] ?? type;
}
