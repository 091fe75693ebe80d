/** Forge of a repository, and the address of its commits. Pure. */
import type { TemplateSettings } from '../../rows/templates/columns.ts';

export type VcsProvider =
  | 'github'
  | 'githubEnterprise'
  | 'gitlab'
  | 'gitlabEnterprise'
  | 'bitbucket'
  | 'bitbucketServer'
  | 'azureDevOps';

const byHost: Readonly<Record<string, VcsProvider>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'bitbucket.org': 'bitbucket',
  'dev.azure.com': 'azureDevOps',
  'ssh.dev.azure.com': 'azureDevOps',
};

/** Host and path of an address in any of its forms; null where it has none. */
export function repositoryPlaceOf(repository: string): { host: string; path: string } | null {
  const short = /^[\w.-]+@([\w.-]+):(.+)$/.exec(repository);
  if (short) return { host: (short[1] ?? '').toLowerCase(), path: short[2] ?? '' };
  const url = URL.parse(repository);
  return url && url.host !== ''
    ? { host: url.hostname.toLowerCase(), path: url.pathname.replace(/^\/+/, '') }
    : null;
}

/** The settings take precedence over the host's name. */
export function vcsProviderOf(repository: string, settings: TemplateSettings): VcsProvider | null {
  if (settings.isGitHubEnterprise) return 'githubEnterprise';
  if (settings.isGitLabEnterprise) return 'gitlabEnterprise';
  if (settings.isBitbucketServer) return 'bitbucketServer';
  if (settings.isAzureDevOps) return 'azureDevOps';
  if (settings.isGitLab) return 'gitlab';
  if (settings.githubInstallationId) return 'github';
  if (settings.bitbucketClientKey) return 'bitbucket';
  const host = repositoryPlaceOf(repository)?.host ?? '';
  const known = Object.hasOwn(byHost, host) ? byHost[host] : undefined;
  return known ?? (host.endsWith('.visualstudio.com') ? 'azureDevOps' : null);
}

const commitPaths: Readonly<Partial<Record<VcsProvider, string>>> = {
  github: 'commit',
  githubEnterprise: 'commit',
  gitlab: '-/commit',
  gitlabEnterprise: '-/commit',
  bitbucket: 'commits',
  azureDevOps: 'commit',
};

/** The page of a commit; null where it is not known. */
export function commitUrlOf(repository: string, provider: string | undefined, commit: string): string | null {
  const place = repositoryPlaceOf(repository);
  const page =
    provider && Object.hasOwn(commitPaths, provider) ? commitPaths[provider as VcsProvider] : undefined;
  if (!place || !page) return null;
  // Azure's ssh addresses have another path than its pages.
  if (provider === 'azureDevOps' && !/^https?:/.test(repository)) return null;
  return `https://${place.host}/${place.path.replace(/\/+$/, '').replace(/\.git$/, '')}/${page}/${commit}`;
}
