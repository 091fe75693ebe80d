/**
 * Values of YAML as the tools of Kubernetes read them: otherwise a manifest could show people something else
 * than what a tool applies.
 */
import { type Alias, isAlias, isMap, isSeq, Scalar, type ScalarTag, type Tags } from 'yaml';

const prefix = 'tag:yaml.org,2002:';

/** Octal numbers as YAML 1.2 writes them. */
const newOctal: ScalarTag = {
  tag: `${prefix}int`,
  default: true,
  test: /^-?0o[0-7]+$/,
  resolve: (text) => (text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text)),
};

const binary: ScalarTag = {
  tag: `${prefix}binary`,
  resolve: (text) => Buffer.from(text, 'base64').toString(),
};

type ResolveContext = Parameters<Alias['resolve']>[1];

function aliased(context: ResolveContext, value: unknown): unknown {
  return context && isAlias(value) ? value.resolve(context.doc, context) : value;
}

/** Merged keys replace those above them in the text; of a list, the first source counts. */
function mergeInto(context: ResolveContext, target: object, value: unknown): void {
  const source = aliased(context, value);
  for (const each of isSeq(source) ? source.items.toReversed() : [source]) {
    const one = aliased(context, each);
    if (!isMap(one)) throw new Error('what is merged by << must be a map');
    const values = one.toJSON(null, context, Map) as ReadonlyMap<unknown, unknown>;
    for (const [key, part] of values)
      Object.defineProperty(target, String(key), {
        value: part,
        writable: true,
        enumerable: true,
        configurable: true,
      });
  }
}

const merge: ScalarTag = {
  tag: `${prefix}merge`,
  default: 'key',
  test: /^<<$/,
  identify: (value) => value === '<<' || (typeof value === 'symbol' && value.description === '<<'),
  resolve: () => Object.assign(new Scalar(Symbol('<<')), { addToJSMap: mergeInto }),
};

/** Numbers are read as every tool of Kubernetes reads them (0644 is octal), and times and dates are texts. */
export function kubernetesTags(tags: Tags): Tags {
  const others = ['merge', 'timestamp', 'binary', 'set', 'omap', 'pairs'].map((name) => `${prefix}${name}`);
  const kept = tags.filter(
    (tag) =>
      typeof tag !== 'object' || (!others.includes(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  );
  return [merge, newOctal, binary, ...kept];
}
