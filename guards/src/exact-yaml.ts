/** YAML whose numbers keep every digit: readers of YAML write 1.10 as 1.1, 0.1000 as 0.1 and 1e400 as infinity. */
import type { ScalarTag, Tags } from 'yaml';
import { ExactNumber, numberText, parseExactly } from '#contract/schema/exact-json.ts';

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
  stringify: ({ value }) => numberText(value) ?? '',
};

/** For `customTags`: numbers with a fraction or an exponent are read as `parseExactly` reads them, and written so. */
export function withExactNumbers(tags: Tags): Tags {
  return [exactFloat, ...tags];
}
