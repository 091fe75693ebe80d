/** The checks of an environment from a template, and the template. */
import type { NewEnvironment } from '#contract/environments/create-environment.ts';
import { requireTokenFor } from '../../code/git-tokens/require-token-for.ts';
import { checkRepository, checkRevision } from '../../code/templates/check-source.ts';
import { requireUsableTemplate } from '../../code/templates/use-template.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField, pointerTo } from '../../ground/errors.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { TemplateRow } from '../../rows/templates/template-store.ts';
import { type CheckedEnvironment, checkNewEnvironment } from './check-create-request.ts';

/** Overrides of the template by an environment. */
export type TemplateOverrides = Pick<EnvironmentRow, 'template_revision' | 'template_repository'>;

const fieldNamed = (name: 'blueprintId' | 'blueprintRepository' | 'blueprintRevision') =>
  `body.deployRequest.${name}`;

/** @throws Refusal 400 or 403 that names the field */
async function overridesOf(
  context: ActorContext,
  { organizationId, projectId, deployRequest }: NewEnvironment,
  template: TemplateRow,
): Promise<TemplateOverrides> {
  const { blueprintRevision: revision, blueprintRepository: repository } = deployRequest;
  checkRevision(revision, fieldNamed('blueprintRevision'));
  const isMoved = Boolean(repository) && repository !== template.repository;
  if (repository && isMoved) {
    const field = fieldNamed('blueprintRepository');
    checkRepository(context, repository, field);
    requireRight(
      context.actor,
      { organizationId, projectId, environmentId: null },
      'CREATE_VCS_ENVIRONMENT',
      pointerTo(field),
    );
    const { tokenId } = template.settings;
    if (tokenId) await requireTokenFor(context.db, { organizationId, projectId, tokenId, repository }, field);
  }
  return { template_revision: revision || null, template_repository: isMoved ? (repository ?? null) : null };
}

/**
 * @returns the request with the template, which no one changes until the transaction ends
 * @throws Refusal 400, 403 or 409 that names the field
 */
export async function checkCreateFromTemplate(
  context: ActorContext,
  request: NewEnvironment,
): Promise<{
  readonly checked: CheckedEnvironment;
  readonly chosen: { readonly template: TemplateRow; readonly overrides: TemplateOverrides };
}> {
  const { blueprintId } = request.deployRequest;
  const field = fieldNamed('blueprintId');
  if (!blueprintId) throw badField(field, 'is required: the id of the template');
  const checked = await checkNewEnvironment(context, request);
  const template = await requireUsableTemplate(context, request, blueprintId, field);
  if (request.type !== undefined && request.type !== template.type)
    throw badField('body.type', `must be the type of the template, ${template.type}, or absent`);
  return { checked, chosen: { template, overrides: await overridesOf(context, request, template) } };
}
