/** Bodies that create and replace templates, and the one form that the service works with. */
import { type Static, Type } from 'typebox';
import { listedProjects } from '../projects/shapes.ts';
import { clearable } from '../schema/empty-fields.ts';
import { creatableTemplateTypes, oneOf, type StoredTemplateType } from '../schema/enumerations.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { closed, Flag, Name, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { type WithoutNulls, without, withoutNulls } from '../schema/without-nulls.ts';
import {
  Retry,
  sourceRequestFields,
  TerragruntTfBinary,
  toolVersionRequestFields,
} from '../sources/shapes.ts';

export const creationScopes = ['ORGANIZATION', 'PROJECT'] as const;

/** Settings of a template, as those who create environments without one send them, too. */
export const templateSettingFields = {
  description: Type.Optional(Prose),
  retry: orNull(Retry),
  runTestsOnPullRequest: Type.Optional(withoutEffect(Flag, noEffects.tests)),
  isTerragruntRunAll: Type.Optional(Flag),
  projectIds: Type.Optional(clearable(Type.Array(Name, listedProjects), [])),
  tagPrefix: Type.Optional(withoutEffect(Text, noEffects.tagPrefix)),
  creationScopeId: Type.Optional(Text),
  creationScope: Type.Optional(oneOf(creationScopes)),
  ...sourceRequestFields,
  ...toolVersionRequestFields,
  terragruntTfBinary: Type.Optional(TerragruntTfBinary),
};

const templateFields = {
  name: Title,
  type: oneOf(creatableTemplateTypes),
  repository: Name,
  ...templateSettingFields,
};

export const CreateTemplateBody = closed({ organizationId: Name, ...templateFields });
export type CreateTemplateBody = Static<typeof CreateTemplateBody>;

/** Replaces everything but the projects and the place of creation, which stay where they are absent. */
export const UpdateTemplateBody = closed({
  organizationId: Type.Optional(Name),
  ...templateFields,
  name: Type.Optional(
    Type.String({ ...Title, description: 'Required, unless the template belongs to a single environment' }),
  ),
});
export type UpdateTemplateBody = Static<typeof UpdateTemplateBody>;

/** Stored form of a template, whatever operation it came from. */
export type TemplateContentBody = Omit<UpdateTemplateBody, 'type' | 'name'> & {
  name: string;
  type: StoredTemplateType;
  /** Parameters of an approval policy. */
  policyConfiguration?: Record<string, unknown>;
};

export type RetrySettings = { [K in keyof Retry]: Exclude<Retry[K], null> };

/** A template as a request describes it. */
export type TemplateRequest = Omit<WithoutNulls<TemplateContentBody>, 'retry'> & {
  retry?: RetrySettings;
  policyConfiguration?: Record<string, unknown>;
};

/** The normal form of a request. @param body that has passed the schema of its operation */
export function normalizeTemplate(body: TemplateContentBody): TemplateRequest {
  return {
    ...withoutNulls(without(body, ['retry'])),
    ...(body.retry ? { retry: withoutNulls(body.retry) } : {}),
  };
}
