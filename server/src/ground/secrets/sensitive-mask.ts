/** Placeholder for a sensitive value; sent back, it means "unchanged". */
export const sensitiveMask = '********';

/** The value that a change has for a secret; undefined: it stays as it is. */
export function changedSecret(value: string | undefined): string | undefined {
  return value === sensitiveMask ? undefined : value;
}
