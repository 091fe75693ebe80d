/** YAML whose numbers keep every digit: readers of YAML write 1.10 as 1.1, 0.1000 as 0.1 and 1e400 as infinity. */
import { isScalar, type ParsedNode, type ScalarTag, type Tags } from 'yaml';
import { stringifyNumber } from 'yaml/util';
import { ExactNumber, parseExactly } from '#contract/schema/exact-json.ts';

/** The same digits as JSON writes a number: `+.50` is 0.50, and `1.` is 1.0. */
function jsonNumber(text: string): string {
  const [, sign = '', whole = '', fraction, exponent = ''] =
    /^([-+]?)0*(\d*?)(?:\.(\d*))?([eE][-+]?\d+)?$/.exec(text) ?? [];
  const digits = fraction === undefined ? '' : `.${fraction === '' ? '0' : fraction}`;
  return `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${digits}${exponent}`;
}

const exactFloat: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  test: /^[-+]?(?:\.\d+|\d+\.\d*|\d+(?=[eE]))(?:[eE][-+]?\d+)?$/,
  resolve: (text) => parseExactly(jsonNumber(text)),
  // `!!float` may be in front of anything: infinity, a whole number, a text.
  stringify: (item) => {
    const { value, source } = item;
    if (value instanceof ExactNumber) return value.text;
    return typeof value === 'number' ? stringifyNumber(item) : (source ?? String(value));
  },
};

/** For `uniqueKeys`: exact numbers with the same digits are the same key, beyond what YAML's reader compares. */
export function isSameKey(one: ParsedNode, other: ParsedNode): boolean {
  if (!isScalar(one) || !isScalar(other)) return one === other;
  const [left, right] = [one.value, other.value];
  return left instanceof ExactNumber && right instanceof ExactNumber
    ? left.text === right.text
    : left === right;
}

/** For `customTags`: numbers with a fraction or an exponent are read as `parseExactly` reads them, and written so. */
export function withExactNumbers(tags: Tags): Tags {
  return [exactFloat, ...tags];
}
