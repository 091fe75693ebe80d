/** Dependencies of every command: a client of the service, and its output. */
import { type Client, createClient } from '#contract/client/client.ts';
import type { OperationName } from '#contract/operations.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { plain, safeText } from '../terminal/safe-text.ts';
import { hasForm } from './explain-reply.ts';
import { patientFetch } from './patient-fetch.ts';
import { reportingFetch } from './report-warnings.ts';
import {
  type ConnectionFlags,
  configFileOf,
  isReadableByOthers,
  readConfigFile,
  requireLogin,
  resolveSettings,
} from './settings.ts';
import { trustAuthorities } from './trust.ts';
import { version } from './version.ts';

/** Flags that every command has. */
export interface SharedFlags extends ConnectionFlags {
  readonly json?: boolean;
}

export interface CommandSession {
  readonly client: Client;
  readonly output: Output;
  /** Operations whose reply had another form than that of the contract, the latest last. */
  readonly malformed: ReadonlySet<OperationName>;
  /** Prints replies unchanged instead of tables and sentences. */
  readonly isJson: boolean;
  /** The organization that was specified; undefined: all that the key has access to. */
  readonly organizationId: string | undefined;
}

/** Prints what is not part of a command's result as safe text, on standard error. */
export function tell(text: string): void {
  currentProcess().stderr.write(`${safeText(text)}\n`);
}

const warn = (text: string) => tell(plain(text));

/**
 * @param flags of the command line
 * @throws BadCall if address, key or secret are unknown
 */
export async function openSession(flags: SharedFlags): Promise<CommandSession> {
  await trustAuthorities(currentProcess().env);
  const file = configFileOf(currentProcess().env);
  const stored = await readConfigFile(file);
  if (stored && (await isReadableByOthers(file)))
    tell(`Others can read ${file}, which contains a secret: run chmod 600 on it.`);
  const { apiUrl, apiKey, apiSecret, organizationId } = requireLogin(
    resolveSettings(flags, currentProcess().env, stored),
    stored,
  );
  const malformed = new Set<OperationName>();
  return {
    malformed,
    client: createClient({
      url: apiUrl,
      key: apiKey,
      secret: apiSecret,
      userAgent: `envarium/${version}`,
      fetch: reportingFetch(patientFetch({ fetch, tell }), warn),
      onReply: (name, reply) => {
        malformed.delete(name);
        if (!hasForm(name, reply)) malformed.add(name);
      },
    }),
    output: createOutput(currentProcess().stdout, currentProcess().env),
    isJson: flags.json === true,
    organizationId,
  };
}
