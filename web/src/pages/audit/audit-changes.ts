/** Changes of an audit entry, field by field. */

export interface FieldChange {
  readonly field: string;
  /** undefined: it was not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type AuditFields = Readonly<Record<string, unknown>>;

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function isFields(value: unknown): value is AuditFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Objects are followed, so that each changed value has a line of its own: `policy.maxTtl`. */
function* compare(path: string, before: unknown, after: unknown): Generator<FieldChange> {
  if (isFields(before) && isFields(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* compare(path === '' ? key : `${path}.${key}`, before[key], after[key]);
    return;
  }
  const [one, other] = [textOf(before), textOf(after)];
  if (one !== other) yield { field: path, before: one, after: other };
}

/** The fields that differ; all of them where something was created or deleted. */
export function changesOf(before: unknown, after: unknown): readonly FieldChange[] {
  return [...compare('', before ?? {}, after ?? {})];
}

/** A fingerprint replaces a secret value. */
export function isFingerprint(text: string | undefined): boolean {
  return text?.startsWith('hmac:') ?? false;
}
