/** Filters and sort orders of lists of environments. */
import { Type } from 'typebox';
import { driftStatuses, environmentStatuses, oneOf, templateTypes } from '../schema/enumerations.ts';
import { commaList, commaListOf, Flag, offsetOf, Text } from '../schema/schema.ts';

/** Sort orders of the list. */
export const environmentSortKeys = ['createdAt', 'name', 'updatedAt', 'lifespanEndAt', 'status'] as const;
export type EnvironmentSortKey = (typeof environmentSortKeys)[number];
export type EnvironmentSort = EnvironmentSortKey | `-${EnvironmentSortKey}`;
const environmentSorts = environmentSortKeys.flatMap((key): EnvironmentSort[] => [key, `-${key}`]);

export const ListEnvironmentsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 100' })),
  offset: Type.Optional(offsetOf('environment')),
  excludeFields: Type.Optional(
    Type.String({
      description: 'Field paths to omit, separated by commas, such as `latestDeploymentLog.plan`',
    }),
  ),
  organizationId: Type.Optional(Text),
  projectId: Type.Optional(Text),
  onlyMy: Type.Optional(Type.Boolean({ description: 'Only environments created by the caller' })),
  isActive: Type.Optional(
    Type.Boolean({ description: 'true: only environments that are not archived; false: only archived ones' }),
  ),
  name: Type.Optional(Type.String({ description: 'The exact name' })),
  isRemoteBackend: Type.Optional(Flag),
  workspaceName: Type.Optional(Type.String({ description: 'The exact workspace name' })),
  workspaceNamePrefix: Type.Optional(Text),
  includeSubEnvironments: Type.Optional(
    Type.Boolean({ description: 'Includes environments of workflows; default: false' }),
  ),
  searchText: Type.Optional(
    Type.String({
      description: 'Part of the name, the workspace name, the id, the repository or the name of the project',
    }),
  ),
  tag: Type.Optional(Type.String({ description: 'Only those with this tag' })),
  tags: Type.Optional(commaList('Only those with one of these tags')),
  isDestroyed: Type.Optional(
    Type.Boolean({
      description: 'true: only environments that were destroyed and not deployed since; false: only others',
    }),
  ),
  deployerUserIds: Type.Optional(
    commaList('Only those whose latest deployment one of these users started, by their ids'),
  ),
  status: Type.Optional(commaListOf(environmentStatuses, 'Only those with one of these statuses')),
  driftStatus: Type.Optional(commaListOf(driftStatuses, 'Only those with one of these drift statuses')),
  templateType: Type.Optional(commaListOf(templateTypes, 'Only those of one of these types')),
  blueprintId: Type.Optional(Type.String({ description: 'Only those that use this template' })),
  expiresBefore: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only those whose lifetime ends before' }),
  ),
  finishedAfter: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Only those whose latest deployment finished after, such as since the last visit',
    }),
  ),
  sort: Type.Optional(
    oneOf(
      environmentSorts,
      'Order; with a leading minus descending. Names are compared without regard to case, and an environment ' +
        'that never expires comes after those that do. Default: -createdAt',
    ),
  ),
});
