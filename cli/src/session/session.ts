/** What every command works with: a client for the service, and where to write. */
import { type Client, createClient } from '#contract/client/client.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { patientFetch } from './patient-fetch.ts';
import {
  type ConnectionFlags,
  configFileOf,
  isReadableByOthers,
  readConfigFile,
  requireLogin,
  resolveSettings,
} from './settings.ts';
import { trustAuthorities } from './trust.ts';
import { version } from '../version.ts';

/** Flags that every command has. */
export interface SharedFlags extends ConnectionFlags {
  readonly json?: boolean;
}

export interface Session {
  readonly client: Client;
  readonly output: Output;
  /** Replies as they are, in place of tables and sentences. */
  readonly isJson: boolean;
  /** The organization that the caller speaks of; undefined: all that the key can see. */
  readonly organizationId: string | undefined;
}

/** Tells a person something that is no part of a command's result. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * @param flags of the command line
 * @throws BadCall where address, key or secret are not known
 */
export async function openSession(flags: SharedFlags): Promise<Session> {
  await trustAuthorities(process.env);
  const file = configFileOf(process.env);
  const stored = await readConfigFile(file);
  if (stored && (await isReadableByOthers(file)))
    tell(`Others can read ${file}, which holds a secret: run chmod 600 on it.`);
  const { apiUrl, apiKey, apiSecret, organizationId } = requireLogin(
    resolveSettings(flags, process.env, stored),
    stored,
  );
  return {
    client: createClient({
      url: apiUrl,
      key: apiKey,
      secret: apiSecret,
      userAgent: `envarium/${version}`,
      fetch: patientFetch({ fetch, tell }),
    }),
    output: createOutput(process.stdout, process.env),
    isJson: flags.json === true,
    organizationId,
  };
}
