/** Tells JSON objects from everything else. */
import { ExactNumber } from './exact-json.ts';

/** Whether a value is an object: neither a list nor a number that is kept with all its digits. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/** The value if it is an object, or else an empty one. */
export function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
