/** Settings that affect the downloads of runs: proxies, certificates, release indexes and registries. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { allPrograms, tools } from '#protocol/tools/index.ts';
import { mirrorSettingNames, type ReleaseFacts } from '#protocol/tools/programs/program.ts';
import type { CommandEnvironment } from '../session/settings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const proxyNames = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;
const limitMilliseconds = 5_000;
const smallFile = 5;

/** An address without user and password. */
export function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return 'not an address';
  const url = new URL(address);
  return `${url.protocol}//${url.host}`;
}

function checkProxies(environment: CommandEnvironment): Finding[] {
  const variables = proxyNames.filter((name) => environment[name]);
  if (variables.length === 0) return [ok('proxy', 'none is set')];
  const broken = variables.filter((name) => !URL.canParse(environment[name] ?? ''));
  if (broken.length > 0)
    return [problem('proxy', `${broken.join(', ')} is not an address`, 'Write it as http://host:port.')];
  const exceptions = environment.NO_PROXY ?? environment.no_proxy;
  const shown = variables.map((name) => `${name}=${withoutCredentials(environment[name] ?? '')}`).join(', ');
  if (exceptions) return [ok('proxy', `${shown}, except for ${exceptions}`)];
  return [
    warning(
      'proxy',
      `${shown}, without NO_PROXY`,
      'List hosts that are reached directly in NO_PROXY, including the service: NO_PROXY=localhost,127.0.0.1,…',
    ),
  ];
}

async function checkAuthorities(environment: CommandEnvironment): Promise<Finding[]> {
  const names = ['ENVARIUM_CA_FILE', 'NODE_EXTRA_CA_CERTS'].filter((name) => environment[name]);
  return Promise.all(names.map((name) => checkAuthority(name, environment[name] ?? '')));
}

async function checkAuthority(name: string, file: string): Promise<Finding> {
  const check = `certificates of ${name}`;
  const text = await readFile(file, 'utf8').catch((error: Error) => error);
  if (text instanceof Error) return problem(check, `cannot be read: ${text.message}`, `Correct ${name}.`);
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0)
    return problem(check, `${file} contains no certificate in PEM format`, `Correct ${name}.`);
  const now = Date.now();
  const expired = blocks
    .map((block) => new X509Certificate(block))
    .filter(({ validTo }) => Date.parse(validTo) < now);
  // A bundle of all known authorities always contains some that have expired.
  const isBundle = blocks.length > smallFile && expired.length < blocks.length;
  if (expired.length === 0 || isBundle) return ok(check, `${blocks.length} in ${file}`);
  return warning(
    check,
    `${expired.length} of ${blocks.length} in ${file} have expired: ${expired[0]?.subject.replaceAll('\n', ', ')}`,
    'Replace them.',
  );
}

interface NetworkSource {
  readonly what: string;
  readonly url: string;
  readonly advice: string;
}

/** The index of what is downloaded, at its publisher or at its mirror. */
function indexOf({ word, index }: ReleaseFacts, environment: CommandEnvironment): NetworkSource {
  const setting = mirrorSettingNames(word).mirror;
  const mirror = environment[setting];
  const advice = mirror
    ? `Correct ${setting}.`
    : `Runs can only use versions on the PATH or in the cache: allow access to it, or set a mirror with ${setting}.`;
  const url = mirror ?? `${index.host}${index.path}`;
  return { what: `${word} ${mirror ? 'mirror' : 'releases'}`, url, advice };
}

function sourcesOf(environment: CommandEnvironment): NetworkSource[] {
  const downloads = [
    ...new Map(
      Object.values(tools)
        .flatMap((tool) => tool.downloads)
        .map((one) => [one.url, one]),
    ).values(),
  ];
  const releases = new Set(allPrograms.map(({ release }) => release).filter((release) => release !== null));
  return [
    ...[...releases].map((release) => indexOf(release, environment)),
    ...downloads.filter(({ insteadSetting }) => !environment[insteadSetting]),
  ];
}

/** `fetch` refuses credentials in addresses, and would repeat them in its error. */
function signedIn(url: string): { address: string; headers: Record<string, string> } {
  const address = new URL(url);
  const { username, password } = address;
  [address.username, address.password] = ['', ''];
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
    'base64',
  );
  return { address: address.href, headers: username === '' ? {} : { authorization: `Basic ${basic}` } };
}

function rootOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause !== undefined) return rootOf(cause);
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}

async function checkSource({ what, url, advice }: NetworkSource): Promise<Finding> {
  const host = withoutCredentials(url);
  if (url === 'none') return ok(what, 'none: nothing is downloaded');
  if (!/^https?:/.test(url)) return ok(what, 'a folder on this machine');
  try {
    const { address, headers } = signedIn(url);
    const answer = await fetch(address, {
      method: 'HEAD',
      headers,
      signal: AbortSignal.timeout(limitMilliseconds),
    });
    return answer.status < 500
      ? ok(what, `${host} responds`)
      : warning(what, `${host} responds with ${answer.status}`, advice);
  } catch (error) {
    return warning(what, `${host} cannot be reached: ${rootOf(error)}`, advice);
  }
}

export async function checkNetwork(environment: CommandEnvironment): Promise<Finding[]> {
  const sources = Promise.all(sourcesOf(environment).map(checkSource));
  return [...checkProxies(environment), ...(await checkAuthorities(environment)), ...(await sources)];
}
