import type { Command } from 'commander';
import { ApiError, createClient } from '#contract/client/client.ts';
import type { Organization } from '#contract/organizations/shapes.ts';
import { optionsOf, withSharedFlags } from '../call/command-line.ts';
import { BadCall } from '../session/exit-codes.ts';
import { gatherLogin, type LoginFlags } from '../session/gather-login.ts';
import { tell } from '../session/session.ts';
import {
  configFileOf,
  readConfigFile,
  resolveSettings,
  type Settings,
  type StoredLogin,
  writeConfigFile,
} from '../session/settings.ts';
import { trustAuthorities } from '../session/trust.ts';
import { version } from '../session/version.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { timeText } from '../terminal/durations.ts';
import { createOutput } from '../terminal/output.ts';
import { plain } from '../terminal/safe-text.ts';

/** The organizations that the key has access to. @throws BadCall if the service does not accept the key */
async function check({ apiUrl, apiKey, apiSecret, organizationId }: StoredLogin): Promise<Organization[]> {
  const client = createClient({
    url: apiUrl,
    key: apiKey,
    secret: apiSecret,
    userAgent: `envarium/${version}`,
  });
  const other = `The server at ${apiUrl} is not Envarium. Nothing was written.`;
  const organizations = await client.call('listOrganizations').catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      throw new BadCall(`The service at ${apiUrl} does not accept this key and secret. Nothing was written.`);
    if (error instanceof SyntaxError) throw new BadCall(other);
    throw error;
  });
  if (!Array.isArray(organizations)) throw new BadCall(other);
  if (organizationId !== undefined && !organizations.some(({ id }) => id === organizationId)) {
    throw new BadCall(
      `This key has no access to an organization with id "${organizationId}". Nothing was written.`,
    );
  }
  return organizations;
}

/** A login that was stored before only suggests the address and, unless it was a session, the key. */
async function knownSettings(flags: LoginFlags, file: string): Promise<Settings> {
  const stored = await readConfigFile(file).catch(() => null);
  const settings = resolveSettings(flags, currentProcess().env, null);
  if (!currentProcess().stdin.isTTY || flags.secretStdin) return settings;
  const storedKey = stored?.expiresAt === undefined ? stored?.apiKey : undefined;
  return { ...settings, apiUrl: settings.apiUrl ?? stored?.apiUrl, apiKey: settings.apiKey ?? storedKey };
}

async function login(flags: LoginFlags): Promise<void> {
  await trustAuthorities(currentProcess().env);
  const file = configFileOf(currentProcess().env);
  const gathered = await gatherLogin(flags, await knownSettings(flags, file));
  const organizations = await check(gathered);
  await writeConfigFile(file, gathered);
  const output = createOutput(currentProcess().stdout, currentProcess().env);
  if (flags.json) return output.json(organizations);
  const what = gathered.expiresAt === undefined ? 'key' : `session (until ${timeText(gathered.expiresAt)})`;
  await output.line(
    `Logged in to ${gathered.apiUrl}: address and ${what} are stored in ${file}, readable only by you.`,
  );
  await output.line(`Organizations: ${organizations.map(({ name }) => plain(name)).join(', ') || 'none'}`);
  const overridden = ['ENVARIUM_API_URL', 'ENVARIUM_API_KEY', 'ENVARIUM_API_SECRET'].filter(
    (name) => currentProcess().env[name],
  );
  if (overridden.length > 0)
    tell(
      `While ${overridden.join(', ')} ${overridden.length === 1 ? 'is' : 'are'} set, the environment takes precedence over this file.`,
    );
}

export function addLoginCommand(program: Command): void {
  const command = program
    .command('login')
    .description('log in with an API key or as a person, and store key or session in a file')
    .option('--email <address>', 'log in as a person, with a password from a prompt or standard input')
    .option('--browser', "log in as a person, through the service's identity provider in a browser")
    .option('--secret-stdin', 'read secret or password from standard input, without prompts');
  withSharedFlags(command).action(async () => {
    await login(optionsOf<LoginFlags>(command));
  });
}
