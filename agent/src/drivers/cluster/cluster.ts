/**
 * Cluster and namespace of a run. The file with which its commands find the cluster is a copy of one
 * context of the kubeconfig that the run has.
 */
import { join, relative, resolve } from 'node:path';
import { stringify } from 'yaml';
import { CloudProblem } from '#clouds/exchange.ts';
import { clusterOf } from '#clouds/kubernetes.ts';
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { pathProblem } from '#protocol/tools/inputs/run-variables.ts';
import type { DriverContext, FileToWrite } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import type { Fields } from './json-values.ts';

/** Variables of a run that say which cluster it works on. */
export const clusterVariables = {
  /** The content of a kubeconfig. */
  content: 'ENVARIUM_KUBECONFIG',
  /** The path of a kubeconfig. */
  path: 'KUBECONFIG',
} as const;

/** Relative to the configuration's folder. */
const fileName = `${ownFolder}/kubeconfig`;

export type ClusterContext = Pick<DriverContext, 'job' | 'configurationFolder' | 'tree'>;

/** A kubeconfig, and where it is from. */
interface Kubeconfig {
  readonly content: string;
  /** Begins a sentence. */
  readonly title: string;
  /** Paths in it are relative to this folder. */
  readonly folder: string;
}

const ways =
  `assign a Kubernetes credential to the project, put the content of a kubeconfig into the sensitive variable ` +
  `${clusterVariables.content}, or the path of one in the repository into ${clusterVariables.path}`;

function delivered({ delivered: credentials }: Job): Kubeconfig | null {
  const path = credentials?.environment[clusterVariables.path];
  const file = credentials?.files.find(({ name }) => path?.endsWith(`/${name}`) === true);
  if (path === undefined || file === undefined) return null;
  return { content: file.content, title: 'The kubeconfig of the credential', folder: resolve(path, '..') };
}

async function fromTree(
  path: string,
  { job, tree, configurationFolder }: ClusterContext,
): Promise<Kubeconfig> {
  const name = clusterVariables.path;
  if (path.includes(':'))
    throw new Error(`${name} names several files, and only one is used: merge them, or name one`);
  const absolute = resolve(configurationFolder, path);
  const inside = relative(configurationFolder, absolute);
  if (pathProblem(inside, normalizePath(job.source.path ?? '')) !== null)
    throw new Error(`${name} names a file outside of the repository, which runs cannot use: ${ways}`);
  const content = await tree.text(inside);
  if (content === null)
    throw new Error(`${name} names a file that does not exist in the repository: ${ways}`);
  return { content, title: `The kubeconfig that ${name} names`, folder: resolve(absolute, '..') };
}

async function find(context: ClusterContext): Promise<Kubeconfig> {
  const { job, configurationFolder } = context;
  const environment = runEnvironment(job);
  const content = environment[clusterVariables.content];
  if (content)
    return { content, title: `The variable ${clusterVariables.content}`, folder: configurationFolder };
  const path = environment[clusterVariables.path];
  if (path) return fromTree(path, context);
  const found = delivered(job);
  if (found !== null) return found;
  throw new Error(`The run has no cluster: ${ways}`);
}

/** Fields whose value is a path, by the part of a kubeconfig. */
const paths = {
  cluster: ['certificate-authority'],
  user: ['client-certificate', 'client-key', 'tokenFile'],
} as const;

/**
 * Parts that are copied: kubectl understands more in a file of YAML than what was checked, such as keys that
 * merge others.
 */
const known = {
  cluster: [
    ...['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url', 'disable-compression'],
    ...['certificate-authority', 'certificate-authority-data', 'extensions'],
  ],
  user: [
    ...[
      'client-certificate',
      'client-certificate-data',
      'client-key',
      'client-key-data',
      'token',
      'tokenFile',
    ],
    ...['username', 'password', 'as', 'as-uid', 'as-groups', 'as-user-extra', 'exec', 'auth-provider'],
  ],
  context: ['namespace'],
} as const;

function knownFields(fields: Fields, part: keyof typeof known): Fields {
  const names: readonly string[] = known[part];
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

/** Paths are relative to the file that they are in, and the copy is elsewhere. */
function withAbsolutePaths(fields: Fields, part: keyof typeof paths, folder: string): Fields {
  const found = paths[part].flatMap((name) => {
    const path = fields[name];
    return typeof path === 'string' && path !== '' ? [[name, resolve(folder, path)]] : [];
  });
  return { ...knownFields(fields, part), ...Object.fromEntries(found) };
}

/** A program that a kubeconfig starts would run with the rights of the run, wherever the file came from. */
function refusePrograms(user: Fields, title: string, job: Job): void {
  if (job.delivered?.mayStartPrograms === true) return;
  const field = ['exec', 'auth-provider'].find((name) => user[name] !== undefined && user[name] !== null);
  if (field !== undefined)
    throw new Error(
      `${title} starts a program for its user ("${field}"), which this agent does not allow: use a token or a ` +
        'certificate, or set ENVARIUM_KUBECONFIG_PROGRAMS of the agent to true',
    );
}

/**
 * The file by which the commands of a run find their cluster.
 * @param namespace of objects that name none; undefined: what the kubeconfig says
 * @throws an Error for people
 */
export async function clusterFile(
  context: ClusterContext,
  namespace: string | undefined,
): Promise<FileToWrite> {
  const { content, title, folder } = await find(context);
  const name = 'envarium';
  try {
    const found = clusterOf(content);
    refusePrograms(found.user, title, context.job);
    const copied = {
      ...knownFields(found.context, 'context'),
      ...(namespace === undefined ? {} : { namespace }),
    };
    const file = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: withAbsolutePaths(found.cluster, 'cluster', folder) }],
      users: [{ name, user: withAbsolutePaths(found.user, 'user', folder) }],
      contexts: [{ name, context: { ...copied, cluster: name, user: name } }],
      'current-context': name,
    };
    return { name: fileName, content: stringify(file), isSecret: true };
  } catch (error) {
    // Of a file, its own words are not repeated: they may be secret.
    if (error instanceof CloudProblem) throw new Error(`${title} ${error.message}`, { cause: error });
    throw error;
  }
}

/** Variables by which tools find the cluster of a run. */
export function clusterEnvironment({
  configurationFolder,
}: Pick<DriverContext, 'configurationFolder'>): Record<string, string> {
  const file = join(configurationFolder, fileName);
  return { KUBECONFIG: file, KUBE_CONFIG_PATH: file };
}

/** Checks the name of a namespace. @param field begins the message @returns null if it is valid */
export function namespaceProblem(field: string, namespace: string): string | null {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) return null;
  return `${field}: a namespace has 1 to 63 lower-case letters, digits and -, and begins and ends with a letter or digit`;
}
