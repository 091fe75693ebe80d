/** Homes of rows: an organization, a project or an environment. */

/** Home of an entity: the place where rights are checked. */
export interface Place {
  readonly organizationId: string;
  /** Null: the organization as a whole. */
  readonly projectId: string | null;
  /** Null: nothing that belongs to a single environment. */
  readonly environmentId: string | null;
}

/** Places where a right applies: whole organizations, and elsewhere some projects and environments. */
export interface Reach {
  readonly organizationIds: readonly string[];
  readonly projectIds: readonly string[];
  readonly environmentIds: readonly string[];
}

/** The organization as a whole. */
export function inOrganization(organizationId: string): Place {
  return { organizationId, projectId: null, environmentId: null };
}

/** A project, or what belongs to it. */
export function inProject(row: { readonly organization_id: string; readonly id: string }): Place {
  return { organizationId: row.organization_id, projectId: row.id, environmentId: null };
}

/** An environment, or what belongs to it. */
export function inEnvironment(row: {
  readonly organization_id: string;
  readonly project_id: string;
  readonly id: string;
}): Place {
  return { organizationId: row.organization_id, projectId: row.project_id, environmentId: row.id };
}
