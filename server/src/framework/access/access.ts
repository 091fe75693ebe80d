/** Rights of one caller by place: roles cascade from an organization to its projects and environments. */
import type { Right } from '#contract/schema/enumerations.ts';
import { inOrganization, type Place, type Reach } from '../../rows/places.ts';

/** A role as it holds somewhere, inherited or assigned there. */
export interface RoleGrant {
  /** The name of a built-in role, or the id of a custom one. */
  readonly role: string;
  readonly rights: ReadonlySet<Right>;
}

/** Roles and memberships of a caller in one organization. */
export interface OrganizationAccess extends RoleGrant {
  /** By project, including those below the projects that a role was assigned in. */
  readonly projects: ReadonlyMap<string, RoleGrant>;
  readonly environments: ReadonlyMap<string, RoleGrant>;
}

export class Access {
  readonly #organizations: ReadonlyMap<string, OrganizationAccess>;
  readonly #versions: ReadonlyMap<string, string>;

  /** @param versions of the organizations when this was loaded, as far as they are known */
  constructor(
    organizations: ReadonlyMap<string, OrganizationAccess>,
    versions: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#organizations = organizations;
    this.#versions = versions;
  }

  /**
   * Another one after each change of who may do what in an organization, and of its projects; undefined if it
   * is not known.
   */
  versionOf(organizationId: string): string | undefined {
    return this.#versions.get(organizationId);
  }

  /** The organizations that the caller belongs to. */
  get organizationIds(): readonly string[] {
    return [...this.#organizations.keys()];
  }

  isMember(organizationId: string): boolean {
    return this.#organizations.has(organizationId);
  }

  has(right: Right, { organizationId, projectId, environmentId }: Place): boolean {
    const organization = this.#organizations.get(organizationId);
    if (organization === undefined) return false;
    return (
      organization.rights.has(right) ||
      (projectId !== null && organization.projects.get(projectId)?.rights.has(right) === true) ||
      (environmentId !== null && organization.environments.get(environmentId)?.rights.has(right) === true)
    );
  }

  /** Whether the right holds anywhere, or anywhere in one organization. */
  anywhere(right: Right, organizationId?: string): boolean {
    const { organizationIds, projectIds, environmentIds } = this.reach(right, organizationId);
    return organizationIds.length + projectIds.length + environmentIds.length > 0;
  }

  /** Places where the right applies, for lists. @param only this organization */
  reach(right: Right, only?: string): Reach {
    const organizationIds: string[] = [];
    const projectIds: string[] = [];
    const environmentIds: string[] = [];
    for (const [id, held] of this.#organizations) {
      if (only !== undefined && id !== only) continue;
      if (held.rights.has(right)) organizationIds.push(id);
      else {
        projectIds.push(...idsWith(right, held.projects));
        environmentIds.push(...idsWith(right, held.environments));
      }
    }
    return { organizationIds, projectIds, environmentIds };
  }

  /** The caller's role there as the interface shows it; empty where there is none. */
  roleIn({ organizationId, projectId, environmentId }: Place): string {
    const organization = this.#organizations.get(organizationId);
    if (organization === undefined) return '';
    const inProject = projectId === null ? undefined : organization.projects.get(projectId);
    const inEnvironment = environmentId === null ? undefined : organization.environments.get(environmentId);
    const isWhole = organization.role === 'Admin' || (projectId === null && environmentId === null);
    return isWhole ? organization.role : (inEnvironment ?? inProject ?? organization).role;
  }

  /**
   * A right that holds somewhere in an organization, and there not for others. Roles in environments are
   * compared without those in their projects: it may find one too many, never one too few.
   */
  rightBeyond(other: Access, organizationId: string): Right | undefined {
    const organization = this.#organizations.get(organizationId);
    if (organization === undefined) return undefined;
    const beyond = ({ rights }: RoleGrant, inside: Partial<Place>) =>
      [...rights].filter((right) => !other.has(right, { ...inOrganization(organizationId), ...inside }));
    return [
      ...beyond(organization, {}),
      ...[...organization.projects].flatMap(([projectId, held]) => beyond(held, { projectId })),
      ...[...organization.environments].flatMap(([environmentId, held]) => beyond(held, { environmentId })),
    ][0];
  }

  /** Every right that holds at a place. */
  rightsAt(place: Place): ReadonlySet<Right> {
    const organization = this.#organizations.get(place.organizationId);
    const inProject = place.projectId === null ? undefined : organization?.projects.get(place.projectId);
    const inEnvironment =
      place.environmentId === null ? undefined : organization?.environments.get(place.environmentId);
    return new Set([organization, inProject, inEnvironment].flatMap((held) => [...(held?.rights ?? [])]));
  }
}

function idsWith(right: Right, held: ReadonlyMap<string, RoleGrant>): string[] {
  return [...held].filter(([, { rights }]) => rights.has(right)).map(([id]) => id);
}

/** Rights of unknown callers, and of the service itself. */
export const noAccess = new Access(new Map());

/** The right to see what belongs to an organization, or to one of its projects. */
export function viewRightAt({ projectId }: Pick<Place, 'projectId'>): Right {
  return projectId === null ? 'VIEW_ORGANIZATION' : 'VIEW_PROJECT';
}
