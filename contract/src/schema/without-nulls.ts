/** Normal forms of requests: null in a request means that nothing was specified. */

/** A type without the nulls that stand for "not specified". */
export type WithoutNulls<T> = { [K in keyof T]: Exclude<T[K], null> };

/** The object without the fields that are null or undefined. */
export function withoutNulls<T extends object>(value: T): WithoutNulls<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== null && field !== undefined),
  ) as WithoutNulls<T>;
}

/** The object without some of its fields. */
export function without<T extends object, K extends keyof T>(value: T, names: readonly K[]): Omit<T, K> {
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !(names as readonly string[]).includes(name)),
  ) as Omit<T, K>;
}
