/** The environment of git: its own configuration, no prompts, no hooks, and only the intended transports. */
import type { GitCredentials } from './repository-access.ts';

/**
 * The only configuration file that git sees. It marks every folder as safe: the tree belongs to the slot's
 * user, a local repository to its creator, and git otherwise refuses repositories of another owner (only a
 * file may change that, not `-c`). A checkout is made again rather than repaired: nothing of it has to survive a power
 * cut, no one reads a log of its branches, and it ends before it needs to be tidied.
 */
export const gitConfiguration = `[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
\tfsync = none
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\tdetachedHead = false
[protocol]
\tallow = never
[protocol "ext"]
\tallow = never
[http]
\tlowSpeedLimit = 1
\tlowSpeedTime = 30
`;

export interface GitEnvironmentInput {
  /** Absolute path of a file with `gitConfiguration`, readable by the slot. */
  readonly configurationFile: string;
  readonly home: string;
  readonly path: string;
  /** Allowed transports, colon-separated as in `GIT_ALLOW_PROTOCOL`. */
  readonly protocols: string;
  /** The repository's URL and credentials; these are sent to that host only and never after a redirect. */
  readonly url?: string;
  readonly credentials?: GitCredentials | undefined;
  /** Addresses of the host, as `http.curloptResolve` has them: then no others are connected to. */
  readonly resolved?: string | undefined;
  /** Whether git follows the redirect of a first request; never with credentials or over plain http. */
  readonly followsRedirects: boolean;
}

/**
 * @returns the whole environment of one of our git commands, including credentials, which are never in an
 * argument
 */
export function gitEnvironment(input: GitEnvironmentInput): Record<string, string> {
  return {
    PATH: input.path,
    HOME: input.home,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: input.configurationFile,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: input.protocols,
    GIT_NO_LAZY_FETCH: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    // The slot's uid may have no account; git needs a name for its own records.
    GIT_AUTHOR_NAME: 'envarium',
    GIT_AUTHOR_EMAIL: 'envarium@localhost',
    GIT_COMMITTER_NAME: 'envarium',
    GIT_COMMITTER_EMAIL: 'envarium@localhost',
    ...connectionEnvironment(input),
  };
}

/**
 * For the git commands that a tool runs to load modules: no prompts, and no credentials, which the gate adds
 * (`openGitGate`).
 */
export function moduleGitEnvironment(
  configurationFile: string,
  settings: readonly (readonly [string, string])[],
): Record<string, string> {
  return {
    GIT_CONFIG_GLOBAL: configurationFile,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:http:file',
    ...numbered(settings),
  };
}

function connectionEnvironment(input: GitEnvironmentInput): Record<string, string> {
  const { url, credentials, resolved, followsRedirects } = input;
  if (url === undefined) return {};
  const { origin } = new URL(url);
  const pinned: [string, string][] = resolved === undefined ? [] : [['http.curloptResolve', resolved]];
  const direct: [string, string][] = followsRedirects
    ? []
    : [
        ['http.followRedirects', 'false'],
        [`http.${origin}/.followRedirects`, 'false'],
      ];
  return numbered([...pinned, ...direct, ...credentialEntries(origin, credentials)]);
}

function credentialEntries(origin: string, credentials: GitCredentials | undefined): [string, string][] {
  const entries: [string, string][] = [];
  // A redirect could lead a token, or a host that is allowed plain http, to another host.
  if (credentials !== undefined || origin.startsWith('http:'))
    entries.push([`http.${origin}/.followRedirects`, 'false']);
  if (credentials !== undefined) {
    const token = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
    entries.push([`http.${origin}/.extraHeader`, `Authorization: Basic ${token}`]);
  }
  return entries;
}

function numbered(entries: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = entries.flatMap(
    ([key, value], index) =>
      [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ] as const,
  );
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(pairs) };
}
