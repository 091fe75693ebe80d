import type { Command } from 'commander';
import { ApiError, createClient } from '#contract/client/client.ts';
import type { Organization } from '#contract/organizations/operations.ts';
import { optionsOf, withSharedFlags } from '../command-line.ts';
import { BadCall, exitCodes } from '../exit-codes.ts';
import { createOutput } from '../terminal/output.ts';
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

/** A person ended the questions with Ctrl-C. */
class Interrupted extends Error {}

/** The values that are missing, asked of a person. */
async function ask(known: Settings): Promise<Settings> {
  const { isCancel, password, text } = await import('@clack/prompts');
  const answered = (value: string | symbol): string => {
    if (isCancel(value)) throw new Interrupted();
    return value as string;
  };
  const needed = (value: string | undefined) => (value?.trim() ? undefined : 'It is needed.');
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
  if (secret === '') throw new BadCall('Standard input is empty: it must hold the secret of the API key.');
  return secret;
}

/**
 * Address, key and secret: from flags and environment, the rest from a person or standard input. @throws
 * BadCall
 */
async function gatherLogin(flags: LoginFlags, known: Settings): Promise<StoredLogin> {
  const isPerson = process.stdin.isTTY && process.stderr.isTTY && !flags.secretStdin;
  const isWhole = known.apiUrl && known.apiKey && known.apiSecret;
  let given: Settings = known;
  if (isPerson && !isWhole) given = await ask(known);
  if (!isPerson && (flags.secretStdin || !known.apiSecret))
    given = { ...known, apiSecret: await secretFromStdin() };
  const { apiUrl, apiKey, apiSecret, organizationId } = given;
  if (!apiUrl)
    throw new BadCall('The address of the service is missing: give --api-url or ENVARIUM_API_URL.');
  if (!apiKey) throw new BadCall('The id of the API key is missing: give --api-key or ENVARIUM_API_KEY.');
  if (!apiSecret)
    throw new BadCall("The key's secret is missing: give it on standard input or by ENVARIUM_API_SECRET.");
  return { apiUrl, apiKey, apiSecret, organizationId };
}

/** Asks the service what the key can see. @throws BadCall where it does not accept it */
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
      throw new BadCall(`What answers at ${apiUrl} is not Envarium. Nothing was written.`);
    throw error;
  });
  if (organizationId !== undefined && !organizations.some(({ id }) => id === organizationId)) {
    throw new BadCall(`This key can see no organization with id "${organizationId}". Nothing was written.`);
  }
  return organizations;
}

/** What was there before counts as suggestion only, and not its secret. */
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
    `Logged in to ${given.apiUrl}: address and key are kept in ${file}, readable to you alone.`,
  );
  await output.line(`Organizations: ${organizations.map(({ name }) => name).join(', ') || 'none'}`);
  const overridden = ['ENVARIUM_API_URL', 'ENVARIUM_API_KEY', 'ENVARIUM_API_SECRET'].filter(
    (name) => process.env[name],
  );
  if (overridden.length > 0)
    tell(
      `While ${overridden.join(', ')} ${overridden.length === 1 ? 'is' : 'are'} set, the environment goes before this file.`,
    );
}

export function addLoginCommand(program: Command): void {
  const command = program
    .command('login')
    .description('check address and key against the service, and keep them in a file')
    .option('--secret-stdin', 'read the secret from standard input; no questions');
  withSharedFlags(command).action(async () => {
    try {
      await login(optionsOf<LoginFlags>(command));
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      tell('Nothing was written.');
      process.exitCode = exitCodes.interrupted;
    }
  });
}
