/** Placeholder for a value that is encrypted in the code. */
export const sealedMark = { 'encrypted in the code': true } as const;

export function isSealedMark(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(sealedMark).join() === Object.keys(value).join()
  );
}
