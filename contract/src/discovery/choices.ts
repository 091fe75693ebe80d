/** Choices of environment discovery, apart from the schemas: the command line and the pages start without those. */

/** Tools of the environments that are found. */
export const discoveryTypes = ['opentofu', 'terraform', 'terragrunt', 'workflow'] as const;
export type DiscoveryType = (typeof discoveryTypes)[number];

export const environmentPlacements = ['topProject', 'existingSubProject'] as const;
export type EnvironmentPlacement = (typeof environmentPlacements)[number];

export const workspaceNamings = ['default', 'environmentName'] as const;
export type WorkspaceNaming = (typeof workspaceNamings)[number];

/** Ways to treat an environment whose folder is gone. */
export const removals = ['flag', 'archive', 'destroy'] as const;
export type Removal = (typeof removals)[number];
