/** Reads kubeconfig files, and asks their servers. Nothing that a file names is read or run here. */
import { parse } from 'yaml';
import { CloudProblem, exchange, type PrivateHosts, shownText, textPart } from './exchange.ts';

/** The file needs something of the machine that runs have and this process does not. */
export class NotAskable extends Error {
  override readonly name = 'NotAskable';
}

type ClusterFields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): ClusterFields {
  return typeof value === 'object' && value !== null ? (value as ClusterFields) : {};
}

/** The entry of a list with a name, without the name. */
function entryNamed(
  file: ClusterFields,
  list: string,
  name: string | undefined,
  inner: string,
): ClusterFields {
  const entries = Array.isArray(file[list]) ? (file[list] as unknown[]) : [];
  const found = entries.map(fieldsOf).find((entry) => entry['name'] === name);
  if (found === undefined) throw new CloudProblem(`has no entry for its current context in "${list}"`);
  return fieldsOf(found[inner]);
}

const ofMachine = {
  cluster: ['certificate-authority', 'insecure-skip-tls-verify', 'proxy-url', 'tls-server-name'],
  user: ['exec', 'auth-provider', 'tokenFile', 'client-certificate', 'client-key', 'as'],
} as const;

function requireAskable(fields: ClusterFields, part: keyof typeof ofMachine): void {
  const found = ofMachine[part].find((name) => fields[name] !== undefined && fields[name] !== false);
  if (found !== undefined) throw new NotAskable(`its ${part} has "${found}", which only runs can use`);
}

function decoded(fields: ClusterFields, name: string): string | undefined {
  const text = textPart(fields, name);
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}

function authorizationOf(user: ClusterFields): Record<string, string> {
  const token = textPart(user, 'token');
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  const [name, password] = [textPart(user, 'username'), textPart(user, 'password')];
  if (name === undefined || password === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` };
}

/** @throws CloudProblem */
function fileOf(kubeConfig: string): ClusterFields {
  try {
    return fieldsOf(parse(kubeConfig, { maxAliasCount: 20, merge: true }));
  } catch (error) {
    throw new CloudProblem('is not a kubeconfig file: it cannot be read as YAML', { cause: error });
  }
}

/** The current context of a kubeconfig, and what it names, as the file describes them. */
export interface KubeconfigContext {
  readonly context: ClusterFields;
  readonly cluster: ClusterFields;
  readonly user: ClusterFields;
}

/** The cluster and the user of the current context. @throws CloudProblem */
export function clusterOf(kubeConfig: string): KubeconfigContext {
  const file = fileOf(kubeConfig);
  const context = entryNamed(file, 'contexts', textPart(file, 'current-context'), 'context');
  return {
    context,
    cluster: entryNamed(file, 'clusters', textPart(context, 'cluster'), 'cluster'),
    user: entryNamed(file, 'users', textPart(context, 'user'), 'user'),
  };
}

/**
 * Asks the server of the current context, as its user.
 * @returns the version of the server
 * @throws CloudProblem; NotAskable, whose message says why
 */
export async function kubernetesVersion(
  { privateHosts, signal }: { readonly privateHosts: PrivateHosts; readonly signal: AbortSignal },
  kubeConfig: string,
): Promise<string> {
  const { cluster, user } = clusterOf(kubeConfig);
  requireAskable(cluster, 'cluster');
  requireAskable(user, 'user');
  const url = URL.parse(`${(textPart(cluster, 'server') ?? '').replace(/\/+$/, '')}/version`);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new CloudProblem('names a server that is not an http or https address');
  const parts = {
    ca: decoded(cluster, 'certificate-authority-data'),
    cert: decoded(user, 'client-certificate-data'),
    key: decoded(user, 'client-key-data'),
  };
  const tls = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
  const headers = { accept: 'application/json', ...authorizationOf(user) };
  const { status, text } = await exchange({ method: 'GET', url, headers, tls, privateHosts, signal });
  if (status !== 200) throw new CloudProblem(`was refused by Kubernetes with status ${status}`);
  return shownText(/"gitVersion":\s*"([^"]+)"/.exec(text)?.[1] ?? '');
}

/** In a kubeconfig file, as YAML or JSON. */
const secretField =
  /(?:^|[\s{,"'])(?:token|password|client-key-data|access-token|id-token|refresh-token)["']?\s*:\s*["']?([^\s"',}]+)/g;

/** Values of a kubeconfig file to mask in logs: as text and decoded, because tools print both. */
export function kubeconfigSecrets(kubeConfig: string): string[] {
  return [...kubeConfig.matchAll(secretField)].flatMap(([, value = '']) => {
    const decoded = Buffer.from(value, 'base64').toString('utf8');
    return decoded.startsWith('-----BEGIN ') ? [value, decoded] : [value];
  });
}
