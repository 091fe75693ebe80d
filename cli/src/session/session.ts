/** Dependencies of every command: a client of the service, and its output. */
import { type Client, createClient } from '#contract/client/client.ts';
import type { OperationName } from '#contract/operations.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { plain, safeText } from '../terminal/safe-text.ts';
import type { TableColumn } from '../terminal/table.ts';
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
  /**
   * Prints a reply, or instead of it a sentence.
   * @param sentence a function where it reads the reply, which is printed even if it has another form
   */
  answer(reply: unknown, sentence: string | (() => string)): Promise<void>;
  /** Prints a reply that is a list, or instead of it a table, or `ifEmpty`. */
  list<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[], ifEmpty: string): Promise<void>;
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
  const output = createOutput(currentProcess().stdout, currentProcess().env);
  const isJson = flags.json === true;
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
    output,
    isJson,
    organizationId,
    answer: (reply, sentence) =>
      isJson ? output.json(reply) : output.line(typeof sentence === 'string' ? sentence : sentence()),
    list: (rows, columns, ifEmpty) => (isJson ? output.json(rows) : output.table(rows, columns, ifEmpty)),
  };
}
