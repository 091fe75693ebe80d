/** Reads the outputs of a stack. */
import { isDeepStrictEqual } from 'node:util';
import { parseExactly, typeOfJson } from '#contract/schema/exact-json.ts';
import { recordOf } from '#contract/schema/is-record.ts';
import type { OutputsReading } from '../interface/driver.ts';

function parse(bytes: Uint8Array | undefined): Record<string, unknown> {
  return bytes === undefined || bytes.length === 0
    ? {}
    : recordOf(parseExactly(new TextDecoder().decode(bytes)));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeOfJson(value);
}

/**
 * @param open `pulumi stack output --json` with secrets
 * @param masked the same without: what differs is secret
 */
export function readOutputs(open: Uint8Array | undefined, masked: Uint8Array | undefined): OutputsReading {
  const shown = parse(masked);
  return {
    outputs: Object.fromEntries(
      Object.entries(parse(open)).map(([name, value]) => [
        name,
        { value, sensitive: !isDeepStrictEqual(value, shown[name]), type: typeOf(value) },
      ]),
    ),
  };
}
