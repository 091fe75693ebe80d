/** Inputs of `login`: from flags and environment, the rest from a person or standard input. */
import type { CliSession, SignInMethods } from '#contract/sign-in/shapes.ts';
import { answered, canAsk } from '../terminal/ask.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { plain } from '../terminal/safe-text.ts';
import { signInWithBrowser } from './browser-sign-in.ts';
import { BadCall } from './exit-codes.ts';
import type { SharedFlags } from './session.ts';
import { requireAddress, type Settings, type StoredLogin } from './settings.ts';
import { anonymousClient, signInWithPassword } from './sign-in.ts';

export interface LoginFlags extends SharedFlags {
  readonly secretStdin?: boolean;
  readonly email?: string;
  readonly browser?: boolean;
}

type Validate = (value: string | undefined) => string | undefined;

const needed: Validate = (value) => (value?.trim() ? undefined : 'This is required.');

/** @throws Interrupted */
async function askText(message: string, initialValue?: string, validate = needed): Promise<string> {
  const { text } = await import('@clack/prompts');
  return answered(await text({ message, initialValue, validate, output: currentProcess().stderr })).trim();
}

/** Shows no character of what is typed. @throws Interrupted */
async function askSecret(message: string): Promise<string> {
  const { password } = await import('@clack/prompts');
  return answered(await password({ message, validate: needed, output: currentProcess().stderr }));
}

/** @throws Interrupted */
async function askAddress(initialValue = 'http://127.0.0.1:3000'): Promise<string> {
  return askText('Address of the service', initialValue, (value) => {
    try {
      requireAddress(value ?? '', 'The address');
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  });
}

type Way = 'key' | 'password' | 'browser';

/** Way to log in. A service that does not report how people sign in accepts keys. @throws Interrupted */
async function askWay(apiUrl: string): Promise<Way> {
  const methods = await anonymousClient(apiUrl)
    .call('listSignInMethods')
    .catch((): SignInMethods => ({ password: false, providers: [], isFirstStart: false }));
  const names = methods.providers.map(({ name }) => name).join(', ');
  const options: { value: Way; label: string }[] = [
    { value: 'key', label: 'API key' },
    ...(methods.password ? [{ value: 'password' as const, label: 'E-mail address and password' }] : []),
    ...(names ? [{ value: 'browser' as const, label: `Browser: ${plain(names)}` }] : []),
  ];
  if (options.length === 1) return 'key';
  const { select } = await import('@clack/prompts');
  return answered(await select({ message: 'How do you log in?', options, output: currentProcess().stderr }));
}

/** @param what it must contain @throws BadCall for empty input */
async function secretFromStdin(what: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of currentProcess().stdin) chunks.push(chunk as Buffer);
  const secret = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (secret.trim() === '') throw new BadCall(`Standard input is empty: it must contain ${what}.`);
  return secret;
}

function storedOf(
  { apiKeyId: apiKey, apiKeySecret: apiSecret, expiresAt }: CliSession,
  apiUrl: string,
  organizationId: string | undefined,
): StoredLogin {
  return { apiUrl, apiKey, apiSecret, organizationId, expiresAt: expiresAt ?? undefined };
}

/** A session of the person. The password comes from a prompt or standard input. @throws BadCall */
async function withPassword(
  flags: LoginFlags,
  apiUrl: string,
  organizationId: string | undefined,
): Promise<StoredLogin> {
  const isPerson = canAsk() && !flags.secretStdin;
  const email = flags.email ?? (await askText('E-mail address'));
  const password = isPerson ? await askSecret('Password') : await secretFromStdin('the password');
  return storedOf(await signInWithPassword(apiUrl, email, password), apiUrl, organizationId);
}

/** Address, key and secret of an API key. @throws BadCall for what is missing */
async function withKey(flags: LoginFlags, apiUrl: string, known: Settings): Promise<StoredLogin> {
  const isPerson = canAsk() && !flags.secretStdin;
  let { apiKey, apiSecret } = known;
  if (isPerson && !(apiKey && apiSecret)) {
    apiKey = await askText('Id of the API key', apiKey);
    apiSecret = (await askSecret('Secret of the API key')).trim();
  }
  if (!isPerson && (flags.secretStdin || !apiSecret))
    apiSecret = (await secretFromStdin('the secret of the API key')).trim();
  if (!apiKey) throw new BadCall('The id of the API key is required: specify --api-key or ENVARIUM_API_KEY.');
  if (!apiSecret)
    throw new BadCall("The key's secret is required: pass it on standard input or in ENVARIUM_API_SECRET.");
  return { apiUrl, apiKey, apiSecret, organizationId: known.organizationId };
}

/** @throws BadCall for flags that exclude each other */
function wayOf({ email, browser, apiKey }: LoginFlags): Way | undefined {
  const ways = [
    email !== undefined && '--email',
    browser && '--browser',
    apiKey !== undefined && '--api-key',
  ];
  const [first, second] = ways.filter((way) => typeof way === 'string');
  if (second !== undefined)
    throw new BadCall(`${first} and ${second} exclude each other: log in as a person, or with a key.`);
  if (email !== undefined) return 'password';
  return browser ? 'browser' : undefined;
}

/**
 * Gathers a login; a person is signed in by it.
 * @param known from flags, environment and what was stored
 * @throws BadCall for what is missing or refused, Interrupted
 */
export async function gatherLogin(flags: LoginFlags, known: Settings): Promise<StoredLogin> {
  const requestedWay = wayOf(flags);
  const isPerson = canAsk() && !flags.secretStdin;
  const isWhole = known.apiUrl && (requestedWay !== undefined || (known.apiKey && known.apiSecret));
  const apiUrl = isPerson && !isWhole ? await askAddress(known.apiUrl) : known.apiUrl;
  if (!apiUrl)
    throw new BadCall('The address of the service is required: specify --api-url or ENVARIUM_API_URL.');
  const isOpen = isPerson && !flags.apiKey && !currentProcess().env.ENVARIUM_API_KEY;
  switch (requestedWay ?? (isOpen ? await askWay(apiUrl) : 'key')) {
    case 'password':
      return withPassword(flags, apiUrl, known.organizationId);
    case 'browser':
      return storedOf(await signInWithBrowser(apiUrl), apiUrl, known.organizationId);
    case 'key':
      return withKey(flags, apiUrl, known);
  }
}
