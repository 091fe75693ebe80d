/** The rule of fields that must not be empty. @returns the problem; null: none */
export const validateName = (name: string): string | null =>
  name.trim() === '' ? 'A name is required.' : null;
