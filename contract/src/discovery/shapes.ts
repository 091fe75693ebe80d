/** Shapes of replies about environment discovery. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Count, Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import {
  RetryReply,
  sourceReplyFields,
  TerragruntTfBinary,
  toolVersionReplyFields,
} from '../sources/shapes.ts';
import { User } from '../users/shapes.ts';
import {
  discoveryTypes,
  environmentPlacements,
  folderStatuses,
  removals,
  workspaceNamings,
} from './choices.ts';

/** Descriptions that requests and replies share. */
export const discoveryWords = {
  environmentPlacement:
    'The project of each environment: this one, or the deepest sub-project whose names its path begins with',
  rootPath: 'Folder below which names and sub-projects begin; empty or absent: the root of the repository',
  workspaceNaming: 'The workspace of each environment: `default`, or one that is derived from its name',
  fileConfiguration: 'Discovery files instead of a glob',
  onRemoval: 'Treatment of an environment whose folder is gone',
} as const;

const EnvironmentName = Type.String({
  description: 'Name of the environment, or the name that it would get',
});
const EnvironmentProjectId = Type.String({ description: 'Project of the environment' });
const FoundRepository = Type.String({
  description: 'Repository of the discovery file, as its host and path; absent with a globPattern',
});
const FoundFolder = Type.String({
  description:
    'Path in the repository; empty: its root. With discovery files, the key of the entry; empty: the file itself',
});
const RenamedFrom = Type.String({ description: 'Folder that is gone and had the same content' });

/** Fields that only glob mode has. */
const globReplyFields = {
  globPattern: Type.Optional(Type.String({ description: 'Files whose folders become environments' })),
  environmentPlacement: Type.Optional(oneOf(environmentPlacements, discoveryWords.environmentPlacement)),
  rootPath: Type.Optional(Type.String({ description: discoveryWords.rootPath })),
  workspaceNaming: Type.Optional(oneOf(workspaceNamings, discoveryWords.workspaceNaming)),
  autoDeployByCustomGlob: Type.Optional(Text),
  createNewEnvironmentsFromPullRequests: Type.Optional(
    Type.Boolean({ description: 'Whether pull requests that add folders create environments' }),
  ),
};

export const Discovery = replyObject('Discovery', {
  id: Type.Optional(Text),
  projectId: Type.Optional(Text),
  organizationId: Text,
  name: Text,
  repository: Type.String({ description: 'Empty in file mode' }),
  type: oneOf(discoveryTypes),
  ...globReplyFields,
  discoveryFileConfiguration: Type.Optional(
    Type.Object(
      { repositoryRegex: Type.String({ description: 'Repositories that may contain discovery files' }) },
      { description: discoveryWords.fileConfiguration },
    ),
  ),
  ...sourceReplyFields,
  ...toolVersionReplyFields,
  terragruntTfBinary: Type.Optional(TerragruntTfBinary),
  isTerragruntRunAll: Type.Optional(Flag),
  description: Type.Optional(Text),
  retry: Type.Optional(RetryReply),
  runTestsOnPullRequest: Type.Optional(Flag),
  projectIds: Type.Optional(Type.Array(Text)),
  tagPrefix: Type.Optional(Text),
  author: Type.Optional({ ...User, description: 'The user who saved it last, for whom discovery acts' }),
  authorId: Type.Optional(Text),
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  isDeleted: Type.Optional(Flag),
  isSingleUse: Type.Optional(Flag),
  onRemoval: oneOf(removals, discoveryWords.onRemoval),
  removalLimitPercent: Type.Integer({
    description: 'A scan that would archive or destroy a larger share of the environments asks first',
  }),
});
export type Discovery = Static<typeof Discovery>;

export const scanStatuses = ['RUNNING', 'WAITING_FOR_USER', 'SUCCESS', 'FAILURE', 'CANCELLED'] as const;
export type ScanStatus = (typeof scanStatuses)[number];

/** Reasons to scan. */
export const scanCauses = ['saved', 'poll', 'push', 'user'] as const;
export type ScanCause = (typeof scanCauses)[number];

export const DiscoveryScan = replyObject('DiscoveryScan', {
  id: Text,
  status: oneOf(scanStatuses),
  cause: oneOf(scanCauses, 'The reason for the scan'),
  commitHash: Type.Optional(Text),
  error: Type.Optional(Type.String({ description: 'Why it failed, was cancelled or waits' })),
  isUnchanged: Type.Boolean({ description: 'No branch had moved since the last scan' }),
  files: Type.Optional({ ...Count, description: 'Files of the repository, or discovery files' }),
  matched: Type.Optional({
    ...Count,
    description: 'Folders that the glob matches, or entries of discovery files',
  }),
  created: Type.Optional({ ...Count, description: 'Environments that were created' }),
  removed: Type.Optional({
    ...Count,
    description: 'Environments that were archived or that are being destroyed',
  }),
  failed: Type.Optional({
    ...Count,
    description: 'Folders that match and have no environment, or whose environment could not be removed',
  }),
  createdAt: Instant,
  finishedAt: Type.Optional(Instant),
});
export type DiscoveryScan = Static<typeof DiscoveryScan>;

export const DiscoveredFolder = replyObject('DiscoveredFolder', {
  repository: Type.Optional(FoundRepository),
  folder: FoundFolder,
  file: Type.String({ description: 'The file that was found in it' }),
  status: oneOf(folderStatuses),
  reason: Type.Optional(Type.String({ description: 'Why it is not (or no longer) an environment' })),
  environmentId: Type.Optional(Text),
  environmentName: Type.Optional(
    Type.String({ description: 'Of the environment, or as it would be called' }),
  ),
  environmentProjectId: Type.Optional(EnvironmentProjectId),
  renamedFrom: Type.Optional(Type.String({ description: 'Folder that is gone and had the same content' })),
});
export type DiscoveredFolder = Static<typeof DiscoveredFolder>;

export const DiscoveryState = replyObject('DiscoveryState', {
  lastScan: Type.Optional({
    ...DiscoveryScan,
    description:
      'The newest scan that has not ended, such as one that waits for a person, or else the last one',
  }),
  nextPollAt: Type.String({ format: 'date-time', description: 'Time at which the branch is checked next' }),
  folders: Type.Array(DiscoveredFolder, { description: 'Sorted by their repository and path' }),
  passedOverCount: Type.Integer({
    minimum: 0,
    description:
      'Folders with code of the type that the glob does not match; at most 1,000 of them are listed',
  }),
});
export type DiscoveryState = Static<typeof DiscoveryState>;

export const previewActions = [
  'create',
  'takeIn',
  'change',
  'keep',
  'skip',
  'passOver',
  'flag',
  'archive',
  'destroy',
  'askAboutRename',
] as const;
export type PreviewAction = (typeof previewActions)[number];

export const DiscoveryPreview = replyObject('DiscoveryPreview', {
  commitHash: Type.Optional(Type.String({ description: 'Absent with discovery files' })),
  files: Type.Integer({ minimum: 0, description: 'Files of the repository, or discovery files' }),
  passedOverCount: Type.Integer({
    minimum: 0,
    description:
      'Folders with code of the type that the glob does not match; at most 1,000 of them are listed',
  }),
  asksFirst: Type.Boolean({
    description: 'The scan would archive or destroy more than `removalLimitPercent`, and ask first',
  }),
  folders: Type.Array(
    Type.Object({
      repository: Type.Optional(FoundRepository),
      folder: FoundFolder,
      file: Type.String({ description: 'The file that was found in it' }),
      action: oneOf(previewActions, 'Action of a scan'),
      reason: Type.Optional(Text),
      environmentId: Type.Optional(Text),
      environmentName: Type.Optional(EnvironmentName),
      environmentProjectId: Type.Optional(EnvironmentProjectId),
      workspaceName: Type.Optional(Text),
      renamedFrom: Type.Optional(RenamedFrom),
    }),
    { description: 'Sorted by their repository and path' },
  ),
});
export type DiscoveryPreview = Static<typeof DiscoveryPreview>;
