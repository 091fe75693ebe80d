/**
 * The environment that git runs in: its own configuration, no prompts, no hooks, no transports but the one
 * that is meant.
 */
import type { Job } from '#protocol/messages/job.ts';

/**
 * The only configuration file that git sees. It names every folder as safe: the tree belongs to the slot's
 * user, a local repository to whoever made it, and git refuses a repository of another owner otherwise (only
 * a file may say so, not `-c`).
 */
export const gitConfiguration = `[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
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
  /** Absolute path of a file with `gitConfiguration`, readable to the slot. */
  readonly configurationFile: string;
  readonly home: string;
  readonly path: string;
  /** Transports that may be used, colon-separated as in `GIT_ALLOW_PROTOCOL`. */
  readonly protocols: string;
  /**
   * The repository's URL and who reads it; credentials are sent to that host only and never after a redirect.
   */
  readonly url?: string;
  readonly credentials?: Job['source']['credentials'];
}

/**
 * @returns the whole environment of a git command of ours; credentials stand in it, and never in an argument.
 */
export function gitEnvironment(input: GitEnvironmentInput): Record<string, string> {
  return {
    PATH: input.path,
    HOME: input.home,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: input.configurationFile,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: input.protocols,
    GIT_NO_LAZY_FETCH: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    // The slot's uid may have no account; git asks for a name when it writes its own records.
    GIT_AUTHOR_NAME: 'envarium',
    GIT_AUTHOR_EMAIL: 'envarium@localhost',
    GIT_COMMITTER_NAME: 'envarium',
    GIT_COMMITTER_EMAIL: 'envarium@localhost',
    ...credentialEnvironment(input.url, input.credentials),
  };
}

/**
 * What a tool gets for the git commands that it runs itself while it loads modules: never a prompt, and
 * credentials for the host that each belongs to only, the repository's own first.
 */
export function moduleGitEnvironment(
  configurationFile: string,
  source: ModuleSource,
): Record<string, string> {
  const url = URL.parse(source.repository);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  const own = isWeb ? credentialEntries(url.origin, source.credentials) : [];
  const others = (source.hostCredentials ?? []).filter(
    ({ host }) => !isWeb || source.credentials === undefined || host !== url.host,
  );
  const entries = others.flatMap(({ host, ...credentials }) =>
    credentialEntries(`https://${host}`, credentials),
  );
  const plain = others.filter(({ host }) => isPlainHost(source.httpHosts, host));
  const plainEntries = plain.flatMap(({ host, ...credentials }) =>
    credentialEntries(`http://${host}`, credentials),
  );
  return {
    GIT_CONFIG_GLOBAL: configurationFile,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:http:file',
    ...numbered([...own, ...entries, ...plainEntries]),
  };
}

type ModuleSource = Pick<Job['source'], 'repository' | 'credentials' | 'hostCredentials' | 'httpHosts'>;

function isPlainHost(httpHosts: readonly string[], host: string): boolean {
  return httpHosts.includes(host) || httpHosts.includes(host.replace(/:\d+$/, ''));
}

function credentialEnvironment(
  repository: string | undefined,
  credentials: Job['source']['credentials'],
): Record<string, string> {
  return repository === undefined ? {} : numbered(credentialEntries(new URL(repository).origin, credentials));
}

function credentialEntries(origin: string, credentials: Job['source']['credentials']): [string, string][] {
  const entries: [string, string][] = [];
  // A redirect could lead a token, or a host that is allowed plain http, to one that is not.
  if (credentials !== undefined || origin.startsWith('http:'))
    entries.push([`http.${origin}/.followRedirects`, 'false']);
  if (credentials !== undefined) {
    const token = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
    entries.push([`http.${origin}/.extraHeader`, `Authorization: Basic ${token}`]);
  }
  return entries;
}

function numbered(entries: readonly [string, string][]): Record<string, string> {
  const pairs = entries.flatMap(
    ([key, value], index) =>
      [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ] as const,
  );
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(pairs) };
}
