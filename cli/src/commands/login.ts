import type { Command } from 'commander';
import { ApiError, createClient } from '#contract/client/client.ts';
import type { Organization } from '#contract/organizations/shapes.ts';
import { optionsOf, withSharedFlags } from '../command-line.ts';
import { BadCall } from '../exit-codes.ts';
import { answered, canAsk } from '../terminal/ask.ts';
import { createOutput } from '../terminal/output.ts';
import { plain } from '../terminal/safe-text.ts';
import { type SharedFlags, tell } from '../session/session.ts';
import {
  configFileOf,
  readConfigFile,
  requireAddress,
  resolveSettings,
  type Settings,
  type StoredLogin,
  writeConfigFile,
} from '../session/settings.ts';
import { trustAuthorities } from '../session/trust.ts';
import { version } from '../version.ts';

interface LoginFlags extends SharedFlags {
  readonly secretStdin?: boolean;
}

/** Asks for the values that are missing. @throws Interrupted */
async function ask(known: Settings): Promise<Settings> {
  const { password, text } = await import('@clack/prompts');
  const needed = (value: string | undefined) => (value?.trim() ? undefined : 'This is required.');
  const address = (value: string | undefined) => {
    try {
      requireAddress(value ?? '', 'The address');
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const output = process.stderr;
  const apiUrl = answered(
    await text({
      message: 'Address of the service',
      initialValue: known.apiUrl ?? 'http://127.0.0.1:3000',
      validate: address,
      output,
    }),
  );
  const apiKey = answered(
    await text({ message: 'Id of the API key', initialValue: known.apiKey, validate: needed, output }),
  );
  const apiSecret = answered(await password({ message: 'Secret of the API key', validate: needed, output }));
  return { ...known, apiUrl: apiUrl.trim(), apiKey: apiKey.trim(), apiSecret: apiSecret.trim() };
}

async function secretFromStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const secret = Buffer.concat(chunks).toString('utf8').trim();
  if (secret === '') throw new BadCall('Standard input is empty: it must contain the secret of the API key.');
  return secret;
}

/** Address, key and secret: from flags and environment, the rest from a person or standard input. @throws BadCall */
async function gatherLogin(flags: LoginFlags, known: Settings): Promise<StoredLogin> {
  const isPerson = canAsk() && !flags.secretStdin;
  const isWhole = known.apiUrl && known.apiKey && known.apiSecret;
  let given: Settings = known;
  if (isPerson && !isWhole) given = await ask(known);
  if (!isPerson && (flags.secretStdin || !known.apiSecret))
    given = { ...known, apiSecret: await secretFromStdin() };
  const { apiUrl, apiKey, apiSecret, organizationId } = given;
  if (!apiUrl)
    throw new BadCall('The address of the service is required: specify --api-url or ENVARIUM_API_URL.');
  if (!apiKey) throw new BadCall('The id of the API key is required: specify --api-key or ENVARIUM_API_KEY.');
  if (!apiSecret)
    throw new BadCall("The key's secret is required: pass it on standard input or in ENVARIUM_API_SECRET.");
  return { apiUrl, apiKey, apiSecret, organizationId };
}

/** The organizations that the key has access to. @throws BadCall if the service does not accept the key */
async function check({ apiUrl, apiKey, apiSecret, organizationId }: StoredLogin): Promise<Organization[]> {
  const client = createClient({
    url: apiUrl,
    key: apiKey,
    secret: apiSecret,
    userAgent: `envarium/${version}`,
  });
  const organizations = await client.call('listOrganizations').catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      throw new BadCall(`The service at ${apiUrl} does not accept this key and secret. Nothing was written.`);
    if (error instanceof SyntaxError)
      throw new BadCall(`The server at ${apiUrl} is not Envarium. Nothing was written.`);
    throw error;
  });
  if (organizationId !== undefined && !organizations.some(({ id }) => id === organizationId)) {
    throw new BadCall(
      `This key has no access to an organization with id "${organizationId}". Nothing was written.`,
    );
  }
  return organizations;
}

/** A login that was stored before only suggests address and key, never the secret. */
async function knownSettings(flags: LoginFlags, file: string): Promise<Settings> {
  const stored = await readConfigFile(file).catch(() => null);
  const given = resolveSettings(flags, process.env, null);
  if (!process.stdin.isTTY || flags.secretStdin) return given;
  return { ...given, apiUrl: given.apiUrl ?? stored?.apiUrl, apiKey: given.apiKey ?? stored?.apiKey };
}

async function login(flags: LoginFlags): Promise<void> {
  await trustAuthorities(process.env);
  const file = configFileOf(process.env);
  const given = await gatherLogin(flags, await knownSettings(flags, file));
  const organizations = await check(given);
  await writeConfigFile(file, given);
  const output = createOutput(process.stdout, process.env);
  if (flags.json) return output.json(organizations);
  await output.line(
    `Logged in to ${given.apiUrl}: address and key are stored in ${file}, readable only by you.`,
  );
  await output.line(`Organizations: ${organizations.map(({ name }) => plain(name)).join(', ') || 'none'}`);
  const overridden = ['ENVARIUM_API_URL', 'ENVARIUM_API_KEY', 'ENVARIUM_API_SECRET'].filter(
    (name) => process.env[name],
  );
  if (overridden.length > 0)
    tell(
      `While ${overridden.join(', ')} ${overridden.length === 1 ? 'is' : 'are'} set, the environment takes precedence over this file.`,
    );
}

export function addLoginCommand(program: Command): void {
  const command = program
    .command('login')
    .description('check address and key with the service, and store them in a file')
    .option('--secret-stdin', 'read the secret from standard input, without questions');
  withSharedFlags(command).action(async () => {
    await login(optionsOf<LoginFlags>(command));
  });
}
