/** Reader of secrets: one store per file in `stores`, opened for one run. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import { recordOf } from '#contract/schema/is-record.ts';
import type { ProcessEnvironment } from '#settings/declaration.ts';
import type { AgentSettings } from '#settings/settings.ts';

/** A secret as its store has it. */
export interface StoreSecret {
  readonly text: string;
  /** For how long it is valid, where the store lends it; absent: without an end. */
  readonly leaseSeconds?: number;
}

export interface SecretStore {
  /**
   * @param name what the reference says after its first colon
   * @param signal ends the wait; its reason is thrown as it is
   * @throws SecretProblem
   */
  read(name: string, signal: AbortSignal): Promise<StoreSecret>;
}

/** The agent's settings, and its environment, where clouds look for an identity. */
export interface StoreOptions {
  readonly settings: Pick<
    AgentSettings,
    'vaultAddress' | 'vaultTokenFile' | 'gcpProject' | 'gcpSecretsAddress' | 'azureVaultAddress'
  >;
  readonly environment: ProcessEnvironment;
}

/** Why a secret cannot be read: the end of a sentence, without any part of the secret. */
export class SecretProblem extends Error {
  override readonly name = 'SecretProblem';
}

/**
 * A name with the key of a field: `database#password` is the field `password` of a secret that is a JSON object.
 */
export function nameAndKey(written: string): { readonly name: string; readonly key: string | null } {
  const at = written.lastIndexOf('#');
  return at < 0 ? { name: written, key: null } : { name: written.slice(0, at), key: written.slice(at + 1) };
}

/**
 * The field of a secret that is a JSON object; the whole text if no key is specified.
 * @throws SecretProblem without the text
 */
export function fieldOf(text: string, key: string | null): string {
  if (key === null) return text;
  let document: unknown;
  try {
    document = parseExactly(text);
  } catch {
    throw new SecretProblem(`the secret is not JSON, so that it has no field ${JSON.stringify(key)}`);
  }
  return textOfField(document, key);
}

/**
 * The text of one field: other values than texts are written as JSON.
 * @throws SecretProblem if there is no such field
 */
export function textOfField(document: unknown, key: string): string {
  const fields = new Map(Object.entries(recordOf(document)));
  if (!fields.has(key)) throw new SecretProblem(`the secret has no field ${JSON.stringify(key)}`);
  const value: unknown = fields.get(key);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The text of a secret that a store has as bytes.
 * @throws SecretProblem for bytes that are not UTF-8
 */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SecretProblem('the secret is binary; store it as text, for example as base64');
  }
}
