/** Texts of pages about approval policies. */

import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import type { GivenVerdict } from '#contract/approval-policies/shapes.ts';
import type { ApprovalPolicy, ApprovalPolicyEntry, FlowScope } from '#contract/custom-flows/shapes.ts';
import type { Right } from '#contract/schema/rights.ts';

export const scopeWords: Readonly<Record<FlowScope, string>> = {
  ORGANIZATION: 'organization',
  PROJECT: 'project',
  BLUEPRINT: 'template',
};

/** The right that assigns and unassigns at a place. */
export const rightsToAssign: Readonly<Record<FlowScope, Right>> = {
  ORGANIZATION: 'EDIT_ORGANIZATION_SETTINGS',
  PROJECT: 'EDIT_PROJECT_SETTINGS',
  BLUEPRINT: 'CREATE_AND_EDIT_TEMPLATES',
};

/** Place of the files of a policy, in one line. */
export function placeOfPolicy({ repository, revision, path }: ApprovalPolicy): string {
  if (repository === catalogueRepository) return `Catalogue: ${path ?? ''}`;
  return `${repository}${path ? `//${path}` : ''}${revision ? ` at ${revision}` : ''}`;
}

/** Places of a policy, as far as the person may see them. */
export function placesText({ assignments }: ApprovalPolicyEntry): string {
  return assignments.map(({ scope, scopeName }) => `${scopeWords[scope]} ${scopeName}`).join(', ');
}

/** Messages of a verdict, the reasons of its decision first. */
export function messagesOf({ decision, messages, error }: GivenVerdict): string[] {
  if (decision === 'error') return [error ?? ''];
  return [...(decision === 'none' ? [] : messages[decision]), ...messages.warn];
}
