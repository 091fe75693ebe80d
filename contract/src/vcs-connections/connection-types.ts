/** Kinds of forges, apart from the schemas: the command line starts without those. */

/** Forges that an organization hosts itself. */
export const vcsConnectionTypes = ['GitHubEnterprise', 'GitLabEnterprise', 'BitBucketServer'] as const;
export type VcsConnectionType = (typeof vcsConnectionTypes)[number];
