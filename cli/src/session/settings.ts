/**
 * Address and credentials of the service: from flags, then from the environment, then from the file that `login`
 * writes. The file's key is sent only to the file's address, and its secret only with its key.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { BadCall } from './exit-codes.ts';

export type CommandEnvironment = Readonly<Record<string, string | undefined>>;

/** Flags of the command line. There is none for the secret: other users of the machine can read command lines. */
export interface ConnectionFlags {
  readonly apiUrl?: string;
  readonly apiKey?: string;
  readonly organizationId?: string;
}

/** The content of the config file. */
export interface StoredLogin {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly organizationId?: string | undefined;
  /** When the session ends, if it is one: key and secret are then its credentials. */
  readonly expiresAt?: string | undefined;
}

/** The settings that were specified anywhere. */
export type Settings = Partial<StoredLogin>;

/** The file that `login` writes: `ENVARIUM_CONFIG_FILE`, else below `XDG_CONFIG_HOME` or `~/.config`. */
export function configFileOf(environment: CommandEnvironment): string {
  if (environment.ENVARIUM_CONFIG_FILE) return environment.ENVARIUM_CONFIG_FILE;
  const folder = environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), '.config');
  return join(folder, 'envarium', 'config.json');
}

function isStoredLogin(value: unknown): value is StoredLogin {
  if (typeof value !== 'object' || value === null) return false;
  const { apiUrl, apiKey, apiSecret, ...more } = value as Record<string, unknown>;
  const isText = (field: unknown) => typeof field === 'string' && field !== '';
  const isOptional = (field: unknown) => field === undefined || isText(field);
  return [apiUrl, apiKey, apiSecret].every(isText) && [more.organizationId, more.expiresAt].every(isOptional);
}

/**
 * @returns the content of the file, or null if it does not exist
 * @throws BadCall for a file that cannot be read or was not written by `login`
 */
export async function readConfigFile(file: string): Promise<StoredLogin | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new BadCall(`The config file ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isStoredLogin(value)) return value;
  } catch {
    // Not JSON: the same answer as for JSON of another form.
  }
  throw new BadCall(
    `The config file ${file} does not contain a login: run "envarium login" to replace it, or remove it.`,
  );
}

/** Whether users other than the owner can read the file. */
export async function isReadableByOthers(file: string): Promise<boolean> {
  return ((await stat(file)).mode & 0o077) !== 0;
}

/** Replaces the file in one step; it and a new folder for it are readable only by their owner. */
export async function writeConfigFile(file: string, login: StoredLogin): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await using handle = await open(temporary, 'wx', 0o600);
    await handle.writeFile(`${JSON.stringify(login, null, 2)}\n`);
    await handle.sync();
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new BadCall(`The config file ${file} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Addresses of one service, however they are written. */
function isSameService(one: string, other: string): boolean {
  const plain = (url: string) =>
    url
      .replace(/\/+$/, '')
      .replace(/\/api$/, '')
      .toLowerCase();
  return plain(one) === plain(other);
}

/**
 * @param flags of the command line
 * @param environment usually `process.env`; an empty value counts as not set
 * @param stored what the config file holds
 * @throws BadCall for an invalid address
 */
export function resolveSettings(
  flags: ConnectionFlags,
  environment: CommandEnvironment,
  stored: StoredLogin | null,
): Settings {
  const explicitUrl = flags.apiUrl || environment.ENVARIUM_API_URL || undefined;
  const explicitKey = flags.apiKey || environment.ENVARIUM_API_KEY || undefined;
  const file =
    stored && (explicitUrl === undefined || isSameService(explicitUrl, stored.apiUrl)) ? stored : undefined;
  const apiUrl = explicitUrl ?? file?.apiUrl;
  if (apiUrl !== undefined) requireAddress(apiUrl, flags.apiUrl ? '--api-url' : 'ENVARIUM_API_URL');
  const apiKey = explicitKey ?? file?.apiKey;
  const fileSecret = file && apiKey === file.apiKey ? file.apiSecret : undefined;
  return {
    apiUrl,
    apiKey,
    apiSecret: environment.ENVARIUM_API_SECRET || fileSecret,
    organizationId: flags.organizationId || environment.ENVARIUM_ORGANIZATION_ID || file?.organizationId,
  };
}

/** @throws BadCall that names the source of the address */
export function requireAddress(text: string, name: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return;
  const shown = url?.password ? 'an address with a password in it' : JSON.stringify(text);
  throw new BadCall(
    `${name} must be an http:// or https:// address without a user or password, not ${shown}.`,
  );
}

const missingTexts = {
  apiUrl: 'the address of the service (ENVARIUM_API_URL or --api-url)',
  apiKey: 'the id of an API key (ENVARIUM_API_KEY or --api-key)',
  apiSecret: "the key's secret (ENVARIUM_API_SECRET)",
} as const;

/**
 * @param stored content of the config file, to explain why it does not apply
 * @throws BadCall that lists what is missing and how to provide it
 */
export function requireLogin(settings: Settings, stored: StoredLogin | null): StoredLogin {
  const { apiUrl, apiKey, apiSecret, organizationId } = settings;
  if (apiUrl && apiKey && apiSecret) return { apiUrl, apiKey, apiSecret, organizationId };
  const missing = (['apiUrl', 'apiKey', 'apiSecret'] as const)
    .filter((name) => !settings[name])
    .map((name) => missingTexts[name]);
  const text = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing. Run "envarium login", or set the environment.`;
  const why = stored
    ? `\nThe key that "envarium login" has stored is "${stored.apiKey}" for ${stored.apiUrl}; it is used for nothing else.`
    : '';
  throw new BadCall(`Not logged in: ${text}${why}`);
}
