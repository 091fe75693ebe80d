/** The text of references to secret stores, which agents resolve: `${ssm:/database/password}`. */

/** The stores that references can name, by the word that a reference begins with. */
export const secretStoreNames = ['ssm', 'vault', 'gcp', 'azure'] as const;
export type SecretStoreName = (typeof secretStoreNames)[number];

/** The whole value of a variable, read. */
export interface SecretReference {
  readonly store: SecretStoreName;
  /** Text of the reference after the first colon. */
  readonly name: string;
}

const stores = secretStoreNames.join('|');
const whole = new RegExp(`^\\$\\{(${stores}):([^{}]*)\\}$`);
const anywhere = new RegExp(`\\$\\{(${stores}):[^{}]*\\}`);

/** @returns null for a value that is not a reference as a whole: it is used as it is */
export function secretReferenceOf(value: string): SecretReference | null {
  const [, store, name] = whole.exec(value) ?? [];
  return store === undefined ? null : { store: store as SecretStoreName, name: name ?? '' };
}

/** Whether a value that is not a reference contains one, which is not resolved. */
export function containsSecretReference(value: string): boolean {
  return anywhere.test(value) && secretReferenceOf(value) === null;
}
