/** Values of Pulumi for people. */
import { isRecord } from '#contract/schema/is-record.ts';
import { isSecretValue } from '#protocol/tools/pulumi/state.ts';
import { sensitiveText } from '../interface/plan-values.ts';

/** Stand for values that are not known before the update, by their type. */
const unknownValues: readonly string[] = [
  '1c4a061d-8072-4f0a-a4cb-0ff528b18fe7',
  '3eeb2bf0-c639-47a8-9e75-3b44932eb421',
  '04da6b54-80e4-46f7-96ec-b56ff0331ba9',
  '6a19a0b0-7e62-4c92-b797-7f8e31da9cc2',
  '030794c1-ac77-496b-92df-f27374a8bd58',
  'e48ece36-62e2-4504-bad9-02848725956a',
  'dd056dcd-154b-4c76-9bd3-c8f88648b5ff',
];
const unknownText = '(known after apply)';

/** A value with its secrets and its unknown parts replaced. */
export function shown(value: unknown): unknown {
  if (isSecretValue(value) || value === '[secret]') return sensitiveText;
  if (typeof value === 'string') return unknownValues.includes(value) ? unknownText : value;
  if (Array.isArray(value)) return value.map(shown);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shown(part)]));
}
