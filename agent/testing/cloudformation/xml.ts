/** For tests: answers of the Query protocol. */

export type Answer =
  | string
  | number
  | boolean
  | Date
  | readonly Answer[]
  | { readonly [name: string]: Answer | undefined };

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Lists have their entries in `member` elements; what is undefined is left out. */
export function xmlOf(value: Answer): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((entry: Answer) => `<member>${xmlOf(entry)}</member>`).join('');
  if (typeof value !== 'object') return escaped(String(value));
  return Object.entries(value)
    .filter(([, entry]) => entry !== undefined)
    .map(([name, entry]) => `<${name}>${xmlOf(entry as Answer)}</${name}>`)
    .join('');
}

const namespace = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';
const metadata =
  '<ResponseMetadata><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ResponseMetadata>';

export function replyXml(action: string, result: Answer): string {
  const body = `<${action}Result>${xmlOf(result)}</${action}Result>${metadata}`;
  return `<${action}Response xmlns="${namespace}">${body}</${action}Response>`;
}

export function errorXml(code: string, message: string): string {
  const error = xmlOf({ Type: 'Sender', Code: code, Message: message });
  return `<ErrorResponse xmlns="${namespace}"><Error>${error}</Error><RequestId>0</RequestId></ErrorResponse>`;
}

/** Parameters such as `Tags.member.1.Key` as lists and maps. */
export interface Query {
  text(name: string): string | undefined;
  list(name: string): string[];
  maps(name: string): Record<string, string>[];
}

export function queryOf(body: string): Query {
  const all = new URLSearchParams(body);
  const under = (name: string) =>
    [...all].flatMap(([key, value]) => {
      const match = key.startsWith(`${name}.member.`) ? key.slice(name.length + 8).split('.') : null;
      return match === null ? [] : [{ index: Number(match[0]), field: match[1], value }];
    });
  return {
    text: (name) => all.get(name) ?? undefined,
    list: (name) =>
      under(name)
        .sort((a, b) => a.index - b.index)
        .map(({ value }) => value),
    maps: (name) => {
      const found = new Map<number, Record<string, string>>();
      for (const { index, field = '', value } of under(name))
        found.set(index, { ...found.get(index), [field]: value });
      return [...found].sort(([a], [b]) => a - b).map(([, map]) => map);
    },
  };
}
