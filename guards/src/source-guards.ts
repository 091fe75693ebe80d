/**
 * Rules for repositories, revisions and paths. Pure: the server checks them before it stores them,
 * and the runner again before it runs git. Each function returns null, or a sentence that names the field and
 * says what to do.
 */
import { percentDecode } from './percent-decode.ts';
import { readSshAddress, type SshAddress, sshHost } from './ssh-address.ts';

export interface SourceAllowances {
  /** Hosts (`name` or `name:port`) for which plain http is allowed. */
  readonly httpHosts: readonly string[];
  /** Folders from which local repositories may be read. */
  readonly localPaths: readonly string[];
}

export type RepositoryKind =
  | { readonly kind: 'https' | 'http'; readonly url: string; readonly host: string }
  | { readonly kind: 'ssh'; readonly host: string; readonly address: SshAddress }
  | { readonly kind: 'local'; readonly path: string };

const controlCharacter = /[\u0000-\u001f\u007f]/;

/**
 * Reads a repository's address.
 * @returns its kind, or the reason why it is refused. Whether a local folder really is below an allowed one
 * is known only after its links are resolved: the runner checks that again.
 */
export function readRepository(
  repository: string,
  allowed: SourceAllowances,
): RepositoryKind | { readonly refusal: string } {
  if (repository === '') return refused('is empty: use an https URL');
  if (repository.length > 2000) return refused('is longer than 2,000 characters');
  if (controlCharacter.test(repository) || /\s/.test(repository))
    return refused('contains blanks or control characters');
  if (repository.startsWith('-')) return refused('begins with "-": use an https URL');
  if (repository.startsWith('/')) return readLocal(repository, allowed);
  if (/^[A-Za-z0-9+.-]+::/.test(repository))
    return refused('names a git transport helper ("…::"), which is never used: use an https URL');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(repository)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    return /^[^/]+:/.test(repository)
      ? readSsh(repository)
      : refused('has no scheme: use an https URL, or user@host:path for ssh');
  }
  if (scheme === 'file') return readFileUrl(repository, allowed);
  if (scheme === 'ssh') return readSsh(repository);
  if (scheme !== 'https' && scheme !== 'http')
    return refused(`uses "${scheme}", which is not allowed: use https or ssh`);
  return readWeb(repository, scheme, allowed);
}

/** @returns why a repository is refused, or null. */
export function repositoryRefusal(repository: string, allowed: SourceAllowances): string | null {
  const reading = readRepository(repository, allowed);
  return 'refusal' in reading ? reading.refusal : null;
}

/** @returns why a revision (branch, tag or commit) is refused, or null. */
export function revisionRefusal(revision: string): string | null {
  const reason = revisionReason(revision);
  return reason === null ? null : `revision ${reason}: specify a branch, a tag or a commit`;
}

/**
 * A leading slash means the root of the repository.
 * @returns why a folder inside the repository is refused, or null; `''`, `/`, `.` and `./` mean its root.
 */
export function pathRefusal(path: string): string | null {
  const reason = pathReason(path);
  return reason === null ? null : `path ${reason}: specify a folder of the repository`;
}

/** @returns why a file inside the repository is refused, or null */
export function fileRefusal(path: string): string | null {
  const reason = pathReason(path) ?? (/(^|\/)\.?$/.test(path) ? 'names a folder' : null);
  return reason === null ? null : `path ${reason}: specify a file of the repository`;
}

/** The normal form of a path: no leading `/` or `./`, no trailing `/`, `''` for the root. */
export function normalizePath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

function refused(reason: string): { readonly refusal: string } {
  return { refusal: `repository ${reason}` };
}

function readWeb(
  repository: string,
  scheme: 'https' | 'http',
  allowed: SourceAllowances,
): RepositoryKind | { readonly refusal: string } {
  const url = URL.parse(repository);
  if (url === null || url.hostname === '') return refused('is not a valid URL');
  if (url.username !== '' || url.password !== '')
    return refused('contains a user or a password: remove them and store them as a git token');
  if (url.hash !== '' || url.search !== '')
    return refused('contains "?" or "#", which is not allowed in a repository address');
  if (
    scheme === 'http' &&
    !allowed.httpHosts.includes(url.host) &&
    !allowed.httpHosts.includes(url.hostname)
  ) {
    return refused(
      `uses plain http, which is not allowed for ${url.host}: use https, or name the host in ENVARIUM_GIT_HTTP_HOSTS`,
    );
  }
  return { kind: scheme, url: url.href, host: url.host };
}

function readSsh(repository: string): RepositoryKind | { readonly refusal: string } {
  const address = readSshAddress(repository);
  return 'refusal' in address ? refused(address.refusal) : { kind: 'ssh', host: sshHost(address), address };
}

function readFileUrl(
  repository: string,
  allowed: SourceAllowances,
): RepositoryKind | { readonly refusal: string } {
  const url = URL.parse(repository);
  if (url === null || url.host !== '') return refused('is not a valid file URL: write file:///folder');
  const path = percentDecode(url.pathname);
  return path === undefined ? refused('is not a valid file URL') : readLocal(path, allowed);
}

function readLocal(path: string, allowed: SourceAllowances): RepositoryKind | { readonly refusal: string } {
  const segments = path.split('/');
  if (controlCharacter.test(path) || segments.includes('..'))
    return refused('contains ".." or control characters');
  const isBelow = allowed.localPaths.some((folder) => isAtOrBelow(path, folder));
  return isBelow
    ? { kind: 'local', path }
    : refused(
        'is a local folder, and none of ENVARIUM_GIT_LOCAL_PATHS contains it: use https, or add its folder to that setting',
      );
}

/** Whether an absolute path is a folder itself or is below it, by comparing text. */
export function isAtOrBelow(path: string, folder: string): boolean {
  const root = folder.replace(/\/+$/, '');
  return path === root || path.startsWith(`${root}/`);
}

// The rules of git-check-ref-format, which also keep a revision from being read as an option or an
// expression.
function revisionReason(revision: string): string | null {
  if (revision === '') return 'is empty';
  if (revision.length > 255) return 'is longer than 255 characters';
  if (revision.startsWith('-')) return 'begins with "-"';
  if (controlCharacter.test(revision) || /[\s~^:?*[\\]/.test(revision))
    return 'contains a blank or one of ~ ^ : ? * [ \\';
  if (revision.includes('..') || revision.includes('@{') || revision.includes('//') || revision === '@')
    return 'contains "..", "@{" or "//"';
  if (revision.startsWith('/') || revision.endsWith('/') || revision.endsWith('.'))
    return 'begins with "/", or ends with "/" or "."';
  if (revision.split('/').some((segment) => segment.startsWith('.') || segment.endsWith('.lock')))
    return 'has a part that begins with "." or ends with ".lock"';
  return null;
}

function pathReason(path: string): string | null {
  if (path.length > 1000) return 'is longer than 1,000 characters';
  if (controlCharacter.test(path) || path.includes('\\'))
    return 'contains a control character or a backslash';
  const segments = path.split('/');
  if (segments.includes('..')) return 'contains ".."';
  if (segments.some((segment) => segment.startsWith('-'))) return 'has a part that begins with "-"';
  if (segments.some((segment) => segment.toLowerCase() === '.git')) return 'is inside .git';
  return null;
}
