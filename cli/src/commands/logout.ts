import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { ApiError, createClient } from '#contract/client/client.ts';
import { optionsOf, withSharedFlags } from '../call/command-line.ts';
import { type SharedFlags, tell } from '../session/session.ts';
import { configFileOf, readConfigFile, type StoredLogin } from '../session/settings.ts';
import { trustAuthorities } from '../session/trust.ts';
import { version } from '../session/version.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { timeText } from '../terminal/durations.ts';
import { createOutput } from '../terminal/output.ts';
import { plain } from '../terminal/safe-text.ts';

/** @returns whether the session is over; an API key has none */
async function endSession({ apiUrl: url, apiKey: key, apiSecret: secret, expiresAt }: StoredLogin) {
  if (expiresAt === undefined) return false;
  await trustAuthorities(currentProcess().env);
  try {
    await createClient({ url, key, secret, userAgent: `envarium/${version}` }).call('signOut');
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // It was over already.
    if (error.status === 401) return true;
    tell(`The session could not be ended: ${plain(error.message)}. It lasts until ${timeText(expiresAt)}.`);
    return false;
  }
}

async function logout(flags: SharedFlags): Promise<void> {
  const file = configFileOf(currentProcess().env);
  const output = createOutput(currentProcess().stdout, currentProcess().env);
  const stored = await readConfigFile(file);
  const isSessionEnded = stored !== null && (await endSession(stored));
  await rm(file, { force: true });
  if (flags.json) return output.json({ file, isSessionEnded });
  await output.line(stored ? `Logged out of ${stored.apiUrl}: ${file} was removed.` : 'There was no login.');
  if (stored && stored.expiresAt === undefined)
    await output.line('The API key itself remains valid: "envarium key revoke" ends one.');
  if (currentProcess().env.ENVARIUM_API_KEY) tell('ENVARIUM_API_KEY is set: commands still use it.');
}

export function addLogoutCommand(program: Command): void {
  const command = program
    .command('logout')
    .description('end the session of "envarium login" and remove the stored credentials');
  withSharedFlags(command).action(() => logout(optionsOf<SharedFlags>(command)));
}
