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

/**
 * `MANAGED`: it has its environment. `PENDING`: its environment is about to be created, or taken in. `CHANGED`: the
 * environment is about to get what the discovery file says now. `SKIPPED`: it matches, and no
 * environment was created. `PASSED_OVER`: it contains code of the type, and the glob does not match it. `MISSING`: it is gone,
 * its environment exists. `REMOVING`: the same, and the environment is about to be archived or destroyed. `REMOVED`: that was
 * done. `RENAMED`: it looks like a folder that is gone, and a person decides. `DELETED`: people deleted its environment.
 */
export const folderStatuses = [
  'MANAGED',
  'PENDING',
  'CHANGED',
  'SKIPPED',
  'PASSED_OVER',
  'MISSING',
  'REMOVING',
  'REMOVED',
  'RENAMED',
  'DELETED',
] as const;
export type FolderStatus = (typeof folderStatuses)[number];
