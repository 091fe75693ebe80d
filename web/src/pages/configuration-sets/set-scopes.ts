/** Places to which sets can be assigned from this page, and the right for each. */
import type { SetCreationScope, SetPlace } from '#contract/configuration-sets/shapes.ts';
import type { Right } from '#contract/schema/rights.ts';
import type { RightPlace } from '../../api/rights.ts';

const all = ['organization', 'project', 'template', 'environment'] as const;
export type Assignable = (typeof all)[number];

/** A set of a project does not leave it. */
export function assignables(home: SetCreationScope): readonly Assignable[] {
  return home === 'organization' ? all : all.filter((scope) => scope !== 'organization');
}

const rights: Readonly<Record<SetPlace['scope'], Right>> = {
  organization: 'EDIT_ORGANIZATION_SETTINGS',
  project: 'EDIT_PROJECT_SETTINGS',
  template: 'CREATE_AND_EDIT_TEMPLATES',
  module: 'CREATE_AND_EDIT_MODULES',
  environment: 'EDIT_ENVIRONMENT_SETTINGS',
  deployment: 'EDIT_ENVIRONMENT_SETTINGS',
};

/** The right that assigns and unassigns there, and where it has to be held. */
export function rightToAssign(
  { scope, scopeId, projectId }: Pick<SetPlace, 'scope' | 'scopeId' | 'projectId'>,
  organizationId: string,
): { right: Right; where: RightPlace } {
  const right = rights[scope];
  if (scope === 'environment') return { right, where: { environmentId: scopeId } };
  const project = scope === 'project' ? scopeId : projectId;
  return { right, where: project === undefined ? { organizationId } : { projectId: project } };
}
