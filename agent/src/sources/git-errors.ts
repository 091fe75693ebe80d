/** What git says when it fails, as a sentence that names the field and what to do. */
import type { Job } from '#protocol/messages.ts';

type Source = Pick<Job['source'], 'repository' | 'revision' | 'credentials'>;

interface Reading {
  readonly pattern: RegExp;
  say(source: Source): string;
}

// In the order in which they are tried: git often prints a general sentence after the one that tells.
const readings: readonly Reading[] = [
  {
    pattern:
      /Remote branch .* not found|couldn't find remote ref|not our ref|no such remote ref|did not match any|Needed a single revision|unknown revision|Server does not allow request for unadvertised|bad revision/i,
    say: missingRevision,
  },
  {
    pattern: /empty repository|does not have any commits/i,
    say: ({ repository }) => `repository ${repository} has no commits: push one first`,
  },
  {
    pattern: /Authentication failed|could not read (Username|Password)|error: 401|HTTP Basic: Access denied|invalid credentials/i,
    say: refusedCredentials,
  },
  {
    pattern: /error: 403|access denied|permission denied/i,
    say: ({ repository }) => `repository ${repository} may not be read with this token: give a token with read access to the code`,
  },
  {
    pattern: /redirect|error: 30\d/i,
    say: ({ repository }) =>
      `repository ${repository} redirects elsewhere, which is not followed with a token or over plain http: give the address that it redirects to`,
  },
  {
    pattern: /Could not resolve host/i,
    say: ({ repository }) => `repository ${repository}: its host is not known on the agent's network: check the address`,
  },
  {
    pattern: /certificate|SSL/i,
    say: ({ repository }) => `repository ${repository}: the certificate of its host is not trusted by the agent's machine`,
  },
  {
    pattern:
      /Connection refused|Failed to connect|Couldn't connect|timed? ?out|Operation too slow|less than 1 bytes\/sec|No route to host|Network is unreachable|Empty reply|Connection reset/i,
    say: ({ repository }) => `repository ${repository} does not answer: check its address, and whether the agent can reach it`,
  },
  {
    pattern:
      /repository .* not found|error: 404|does not appear to be a git repository|not a git repository|not valid: is this a git repository/i,
    say: notFound,
  },
];

/**
 * @param output what git printed
 * @returns a sentence that begins with the field's name, with git's own last words where they are not understood
 */
export function explainGitFailure(output: string, source: Source): string {
  const reading = readings.find(({ pattern }) => pattern.test(output));
  if (reading !== undefined) return reading.say(source);
  const words = output
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const last = words.filter((line) => /^(fatal|error):/.test(line)).at(-1) ?? words.at(-1) ?? 'git gave no reason';
  return `repository ${source.repository} could not be read: ${last}`;
}

function missingRevision({ repository, revision }: Source): string {
  return `revision ${JSON.stringify(revision ?? 'HEAD')} does not exist in ${repository}: give a branch, a tag or a commit that it has`;
}

function refusedCredentials({ repository, credentials }: Source): string {
  return credentials === undefined
    ? `repository ${repository} asks for credentials: give a token for it`
    : `token: repository ${repository} refused its user or password: give a valid token`;
}

function notFound({ repository, credentials }: Source): string {
  if (/^(\/|file:)/.test(repository)) return `repository ${repository} is no git repository that its owner can read: check the path`;
  const hint = credentials === undefined ? ' (a private one needs a token)' : ' (or this token may not see it)';
  return `repository ${repository} does not exist${hint}: check the address`;
}
