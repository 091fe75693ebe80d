/** Types of columns that are text, numbers or JSON to the database. */
import type { StoredTemplateType } from '#contract/schema/enumerations.ts';
import { type Template } from '#contract/templates/shapes.ts';

export interface Columns {
  'template.settings': TemplateSettings;
  'template.type': StoredTemplateType;
}

export interface RepositoryCredentials {
  readonly username: string;
  readonly password: string;
}

/** Credentials that came with an address are for its host and no other. */
export interface HostCredentials extends RepositoryCredentials {
  /** With the port, where it is not the usual one. */
  readonly host: string;
}

/** Settings of a template as the contract names them, only those that were sent: its other fields are columns. */
export type TemplateSettings = Partial<
  Omit<
    Template,
    | 'id'
    | 'createdAt'
    | 'updatedAt'
    | 'name'
    | 'repository'
    | 'type'
    | 'organizationId'
    | 'projectId'
    | 'projectIds'
    | 'author'
    | 'authorId'
    | 'isDeleted'
    | 'isSingleUse'
  >
>;
