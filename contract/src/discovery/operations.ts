/** Environment discovery: the environments of a project, found in the folders of a repository. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffect, withoutEffectOf } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Flag, Name, orNull, Prose, Text } from '../schema/schema.ts';
import {
  Retry,
  sourceRequestFields,
  TerragruntTfBinary,
  toolVersionRequestFields,
} from '../sources/shapes.ts';
import { discoveryTypes, environmentPlacements, removals, workspaceNamings } from './choices.ts';
import { Discovery, DiscoveryPreview, DiscoveryScan, DiscoveryState, discoveryWords } from './shapes.ts';

/** Maximum length of a glob, which is far above what people write. */
const longestGlob = 10_000;

const DiscoveryFileConfiguration = Type.Object(
  {
    repositoryRegex: Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        'Regular expression for the whole `<owner>/<repository>` of each repository whose `envarium-discovery.yml` may create environments here',
    }),
  },
  { additionalProperties: false, description: discoveryWords.fileConfiguration },
);

/** Only its form: the service says which fields glob mode and file mode need. */
export const SetDiscoveryBody = closed({
  id: Type.Optional(Text),
  projectId: Type.Optional(Text),
  organizationId: Type.Optional(Text),
  repository: Type.Optional(Text),
  type: Type.Optional(withoutEffectOf(oneOf(discoveryTypes), ['workflow'], noEffects.workflowEnvironments)),
  globPattern: Type.Optional(
    Type.String({
      maxLength: longestGlob,
      description:
        'Files whose folders become environments, such as `+(prod/**/main.tf|test/*/main.tf)`; required without a `discoveryFileConfiguration`',
    }),
  ),
  environmentPlacement: Type.Optional(oneOf(environmentPlacements, discoveryWords.environmentPlacement)),
  rootPath: Type.Optional(Type.String({ description: discoveryWords.rootPath })),
  workspaceNaming: Type.Optional(oneOf(workspaceNamings, discoveryWords.workspaceNaming)),
  autoDeployByCustomGlob: orNull(withoutEffect(Text, noEffects.deployedPaths)),
  createNewEnvironmentsFromPullRequests: Type.Optional(
    withoutEffect(Flag, noEffects.pullRequestPlanDeployments),
  ),
  discoveryFileConfiguration: orNull(DiscoveryFileConfiguration),
  ...sourceRequestFields,
  ...toolVersionRequestFields,
  terragruntTfBinary: Type.Optional(TerragruntTfBinary),
  isTerragruntRunAll: Type.Optional(Flag),
  description: Type.Optional(Prose),
  retry: orNull(Retry),
  onRemoval: Type.Optional(oneOf(removals, `${discoveryWords.onRemoval} (default: flag)`)),
  removalLimitPercent: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      description:
        'A scan that would archive or destroy a larger share of the environments asks first (default: 20)',
    }),
  ),
});
export type SetDiscoveryBody = Static<typeof SetDiscoveryBody>;

const byProject = Type.Object({ projectId: Name });
const thisProject = { entity: 'project', in: 'params', field: 'projectId' } as const;

const needsToo = [
  { right: 'CREATE_VCS_ENVIRONMENT', for: 'environments that are created, and for reading the repository' },
] as const;

export const operations = defineOperations('discovery', {
  getDiscovery: operation('GET', '/environment-discovery/projects/{projectId}', {
    summary: 'Get environment discovery',
    description: '404 if the project has none.',
    needs: 'VIEW_PROJECT',
    subject: thisProject,
    params: byProject,
    reply: Discovery,
  }),
  setDiscovery: operation('PUT', '/environment-discovery/projects/{projectId}', {
    summary: 'Enable or update environment discovery',
    description:
      'Creates the configuration, or replaces it: absent fields are cleared. Each file that `globPattern` matches ' +
      'makes its folder an environment, at once and whenever the repository changes. Environments that exist stay ' +
      'as they are, whatever is changed here. They are created on behalf of the caller, with the rights that the ' +
      'caller has then.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo,
    subject: thisProject,
    params: byProject,
    body: SetDiscoveryBody,
    bodyOptional: true,
    reply: Discovery,
    inInterface: true,
  }),
  deleteDiscovery: operation('DELETE', '/environment-discovery/projects/{projectId}', {
    summary: 'Delete environment discovery',
    description: 'Environments that were found are kept. 404 if the project has none.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: byProject,
    reply: Type.Object({ id: Text }),
  }),
  getDiscoveryState: operation('GET', '/environment-discovery/projects/{projectId}/state', {
    summary: 'Get folders that environment discovery found',
    description: 'Each folder with its environment, or the reason why it has none.',
    needs: 'VIEW_PROJECT',
    subject: thisProject,
    params: byProject,
    reply: DiscoveryState,
  }),
  listDiscoveryScans: operation('GET', '/environment-discovery/projects/{projectId}/scans', {
    summary: 'List scans of environment discovery',
    description: 'The last 20 that found a change or failed, newest first.',
    needs: 'VIEW_PROJECT',
    subject: thisProject,
    params: byProject,
    reply: Type.Array(DiscoveryScan),
  }),
  startDiscoveryScan: operation('POST', '/environment-discovery/projects/{projectId}/scans', {
    summary: 'Scan the repository now',
    description:
      'Reads all folders again, also if the branch has not moved. The reply is the scan that has started.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: byProject,
    reply: DiscoveryScan,
  }),
  previewDiscovery: operation('POST', '/environment-discovery/projects/{projectId}/preview', {
    summary: 'Preview environment discovery',
    description:
      'What a scan would do, without doing it: with the configuration of the body, or without a body with the one ' +
      'that is stored.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo,
    subject: thisProject,
    params: byProject,
    body: SetDiscoveryBody,
    bodyOptional: true,
    reply: DiscoveryPreview,
    asksOthers: true,
    refusesWith: ['unprocessable', 'unavailable'],
  }),
  confirmDiscoveryRemoval: operation(
    'POST',
    '/environment-discovery/projects/{projectId}/scans/{scanId}/confirm-removal',
    {
      summary: 'Confirm the removal of many environments',
      description:
        'For a scan that waits because it would archive or destroy more environments than `removalLimitPercent`, or because ' +
        'it is the first one of the configuration. Refused with 409 if the repository has changed since.',
      needs: 'EDIT_PROJECT_SETTINGS',
      subject: thisProject,
      params: Type.Object({
        projectId: Name,
        scanId: Type.String({ minLength: 1, description: 'Id of the scan' }),
      }),
      reply: DiscoveryScan,
      refusesWith: ['unprocessable', 'unavailable'],
    },
  ),
  resolveDiscoveryRename: operation('POST', '/environment-discovery/projects/{projectId}/renames', {
    summary: 'Decide about a renamed folder',
    description:
      'For a folder with the status RENAMED. The environment follows it with its state, or the folder becomes an ' +
      'environment of its own.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: [{ right: 'EDIT_VCS_ENVIRONMENT', for: '`isSame` true, about the environment' }],
    subject: thisProject,
    params: byProject,
    body: closed({
      folder: Type.String({ description: 'The new folder' }),
      isSame: Type.Boolean({
        description: 'true: the environment of the old folder follows; false: it is another environment',
      }),
    }),
    reply: DiscoveryState,
  }),
});
