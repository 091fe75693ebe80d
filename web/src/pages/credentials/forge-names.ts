/** Forges by the name that people know. */
import type { VcsConnectionType } from '#contract/vcs-connections/connection-types.ts';

export const forgeNames: Readonly<Record<VcsConnectionType, string>> = {
  GitHubEnterprise: 'GitHub Enterprise',
  GitLabEnterprise: 'GitLab',
  BitBucketServer: 'Bitbucket Server',
};
