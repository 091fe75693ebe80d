/** The places that have variables of their own: how requests and people name them, and who may change them. */
import type { Right } from '#contract/schema/rights.ts';
import type { RightPlace } from '../../api/rights.ts';
import type { Here } from '../../forms/variables/rows.ts';

export const placeKinds = ['organization', 'template', 'project'] as const;
export type PlaceKind = (typeof placeKinds)[number];

export interface VariablesPlace {
  readonly kind: PlaceKind;
  readonly id: string;
  /** Of what belongs to a project: where rights are looked up. */
  readonly projectId?: string;
}

export const placeWords: Readonly<Record<PlaceKind, string>> = {
  organization: 'Organization',
  template: 'Template',
  project: 'Project',
};

/** The place as variables have it. */
export function hereOf({ kind, id }: VariablesPlace): Here {
  if (kind === 'organization') return { scope: 'GLOBAL' };
  return { scope: kind === 'template' ? 'BLUEPRINT' : 'PROJECT', scopeId: id };
}

/** Parameters of a list of the variables that apply there. */
export function listQueryOf({ kind, id }: VariablesPlace, organizationId: string) {
  return {
    organizationId,
    ...(kind === 'template' ? { blueprintId: id } : kind === 'project' ? { projectId: id } : {}),
  };
}

const rightOf: Readonly<Record<PlaceKind, Right>> = {
  organization: 'EDIT_ORGANIZATION_SETTINGS',
  template: 'CREATE_AND_EDIT_TEMPLATES',
  project: 'EDIT_PROJECT_SETTINGS',
};

/** Right that changes variables there, and the place where it is required. */
export function rightFor(
  { kind, id, projectId }: VariablesPlace,
  organizationId: string,
): { right: Right; place: RightPlace } {
  const project = kind === 'project' ? id : projectId;
  return { right: rightOf[kind], place: project === undefined ? { organizationId } : { projectId: project } };
}

/** Words of the command line that name the place. */
export function placeFlags({ kind, id }: VariablesPlace): string[] {
  return kind === 'organization' ? [] : [`--${kind}`, id];
}
