/** The fields that custom flows and approval policies have in common: where the files of each are. */
import { Type } from 'typebox';
import { Flag, Instant, Name, Text, Title } from '../schema/schema.ts';
import { without } from '../schema/without-nulls.ts';
import { sourceReplyFields, sourceRequestFields } from '../sources/shapes.ts';
import { User } from '../users/shapes.ts';

/** A request, `id` and `organizationId` apart. @param path what the field `path` means */
export function recordRequestFields(path: string) {
  return {
    name: Title,
    repository: Name,
    ...without(sourceRequestFields, ['fileName', 'helmChartName', 'isHelmRepository', 'gitlabProjectId']),
    path: Type.Optional(Type.String({ description: path })),
  };
}

/** A reply, `type` apart. @param path what the field `path` means */
export function recordReplyFields(path: string) {
  return {
    id: Text,
    organizationId: Text,
    name: Text,
    repository: Text,
    ...without(sourceReplyFields, ['fileName', 'helmChartName', 'isHelmRepository']),
    path: Type.Optional(Type.String({ description: path })),
    author: User,
    authorId: Text,
    createdAt: Instant,
    updatedAt: Instant,
    isDeleted: Flag,
  };
}
