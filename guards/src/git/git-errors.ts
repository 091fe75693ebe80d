/** Turns failures of git and ssh into a sentence that names the field and what to do. */
import { sshHost } from '../ssh-address.ts';
import type { RepositoryAccess } from './repository-access.ts';
import { scanCommand } from './ssh.ts';

/** Reader of repositories, as messages name it. */
export interface RepositoryReader {
  readonly name: string;
  /** Origin of the keys and tokens. */
  readonly holder: string;
}

const agent: RepositoryReader = { name: 'the agent', holder: 'the environment' };

/** The repository in question. */
export interface GitSource {
  readonly repository: string;
  readonly revision?: string;
  readonly access: RepositoryAccess;
  /** Remedy if the revision does not exist; absent: to specify another one. */
  readonly ifMissing?: string;
  /** Absent: an agent, for an environment. */
  readonly reader?: RepositoryReader;
}

interface ErrorPattern {
  readonly pattern: RegExp;
  message(source: GitSource): string;
}

/** In characters: a hostile host may print lines that are slow to parse. */
const longestOutput = 20_000;
const knownHostsSetting = 'ENVARIUM_GIT_KNOWN_HOSTS_FILE';

// ssh's own messages come first: git adds only general ones.
const sshReadings: readonly ErrorPattern[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed|REVOKED HOST KEY/i,
    message: (source) =>
      `repository ${source.repository}: ${hostOf(source)} answered with a different host key from the known one, and nothing was read: the connection may be intercepted; only if the host's operator confirms that the key was replaced, replace the old line in ${knownHostsSetting} with the new one`,
  },
  {
    pattern: /host key is known for|Host key verification failed/i,
    message: (source) =>
      `repository ${source.repository}: the host key of ${hostOf(source)} is not known: compare the output of ${scanOf(source)} with the key that the host's operator publishes, and add the line to ${knownHostsSetting}`,
  },
  {
    pattern: /Load key .*: (.*)/i,
    message: ({ reader = agent }) =>
      `sshKeys: a key of ${reader.holder} cannot be read by ssh on the machine of ${reader.name}: provide one that its version of OpenSSH supports`,
  },
  { pattern: /Permission denied \(|Too many authentication failures/i, message: refusedKeys },
  {
    pattern: /No user exists for uid/i,
    message: ({ repository, reader = agent }) =>
      `repository ${repository}: ssh needs an account for the user that ${reader.name} runs as: add it to /etc/passwd of that machine`,
  },
];

const unknownHost = /Could not resolve host/i;
const connectionFailure =
  /Connection refused|Failed to connect|Couldn't connect|timed? ?out|Operation too slow|less than 1 bytes\/sec|No route to host|Network is unreachable|Empty reply|Connection reset|Connection closed|kex_exchange_identification|Broken pipe|banner exchange|not responding/i;

// In this order: git often prints a general message after the specific one.
const readings: readonly ErrorPattern[] = [
  ...sshReadings,
  {
    pattern:
      /Remote branch .* not found|couldn't find remote ref|not our ref|no such remote ref|did not match any|Needed a single revision|unknown revision|Server does not allow request for unadvertised|bad revision/i,
    message: missingRevision,
  },
  {
    pattern: /empty repository|does not have any commits/i,
    message: ({ repository }) => `repository ${repository} has no commits: push one first`,
  },
  {
    pattern:
      /Authentication failed|could not read (Username|Password)|error: 401|HTTP Basic: Access denied|invalid credentials/i,
    message: refusedCredentials,
  },
  {
    pattern:
      /repository (.* )?not found|error: 404|does not appear to be a git repository|not a git repository|not valid: is this a git repository|project you were looking for could not be found/i,
    message: notFound,
  },
  {
    pattern: /error: 403|access denied|permission denied/i,
    message: ({ repository }) =>
      `repository ${repository} cannot be read with this token: use a token with read access to the code`,
  },
  {
    pattern: /redirect|error: 30\d/i,
    message: ({ repository }) =>
      `repository ${repository} redirects elsewhere, which is not followed: use the address that it redirects to`,
  },
  {
    pattern: /proxy|CONNECT tunnel failed/i,
    message: ({ repository, reader = agent }) =>
      `repository ${repository} cannot be reached through the proxy of ${reader.name} (HTTPS_PROXY, HTTP_PROXY): check its address, its user and password, and whether it allows that host (NO_PROXY lists hosts without a proxy)`,
  },
  {
    pattern: unknownHost,
    message: ({ repository, reader = agent }) =>
      `repository ${repository}: its host is unknown on ${reader.name}'s network: check the address`,
  },
  {
    pattern: /certificate|SSL/i,
    message: ({ repository, reader = agent }) =>
      `repository ${repository}: the certificate of its host is not trusted by ${reader.name}'s machine: set ENVARIUM_CA_FILE to a file with the certificate of its authority`,
  },
  {
    pattern: connectionFailure,
    message: ({ repository, reader = agent }) =>
      `repository ${repository} does not answer: check its address, and whether ${reader.name} can reach it`,
  },
];

/** Whether the host was not reached, by what git and ssh printed. */
export function isConnectionFailure(output: string): boolean {
  const end = output.slice(-longestOutput);
  const first = readings.find(({ pattern }) => pattern.test(end))?.pattern;
  return first === unknownHost || first === connectionFailure;
}

/**
 * @param output of git, and of ssh if it was used
 * @returns a sentence that begins with the field's name; an unknown failure includes git's last message
 */
export function explainGitFailure(output: string, source: GitSource): string {
  const end = output.slice(-longestOutput);
  const reading = readings.find(({ pattern }) => pattern.test(end));
  if (reading !== undefined) return reading.message(source);
  const words = end
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const last =
    words.filter((line) => /^(fatal|error):/.test(line)).at(-1) ?? words.at(-1) ?? 'git gave no reason';
  return `repository ${source.repository} could not be read: ${last}`;
}

function missingRevision({ repository, revision, ifMissing }: GitSource): string {
  return `revision ${JSON.stringify(revision ?? 'HEAD')} does not exist in ${repository}: ${ifMissing ?? 'use an existing branch, tag or commit'}`;
}

function hasCredentials({ access }: GitSource): boolean {
  return access.kind === 'ssh'
    ? access.keys.length > 0
    : access.kind === 'web' && access.credentials !== undefined;
}

function refusedCredentials(source: GitSource): string {
  return hasCredentials(source)
    ? `token: repository ${source.repository} refused its user or password: use a valid token`
    : `repository ${source.repository} requires credentials: provide a token for it`;
}

function refusedKeys(source: GitSource): string {
  const user = source.access.kind === 'ssh' ? source.access.address.user : '';
  const { holder } = source.reader ?? agent;
  return hasCredentials(source)
    ? `sshKeys: ${hostOf(source)} does not accept any key of ${holder} for the user ${user}: add the public key to the repository's host, or use another key`
    : `repository ${source.repository} requires an ssh key, and ${holder} has none for ${hostOf(source)}: add one (sshKeys)`;
}

function notFound(source: GitSource): string {
  const { repository, access } = source;
  if (access.kind === 'local')
    return `repository ${repository} is not a git repository that its owner can read: check the path`;
  const means = access.kind === 'ssh' ? 'key' : 'token';
  const hint = hasCredentials(source)
    ? ` (or this ${means} has no access to it)`
    : ` (a private one needs a ${means})`;
  return `repository ${repository} does not exist${hint}: check the address`;
}

function hostOf({ access, repository }: GitSource): string {
  return access.kind === 'ssh' ? sshHost(access.address) : repository;
}

function scanOf({ access }: GitSource): string {
  return access.kind === 'ssh' ? `"${scanCommand(access.address)}"` : 'ssh-keyscan';
}
