/** An environment with the code of another one, whose single-use template a request names. */
import type {
  CreateEnvironmentBody,
  CreateFromTemplateBody,
} from '#contract/environments/create-environment.ts';
import { templateTypes } from '#contract/schema/enumerations.ts';
import { without } from '#contract/schema/without-nulls.ts';
import { hostOf } from '../../code/templates/repository-credentials.ts';
import { requireSight } from '../../code/templates/see-template.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField, pointerTo } from '../../ground/errors.ts';
import { inProject } from '../../rows/places.ts';
import { getTemplateRow, openCredentials, type TemplateRow } from '../../rows/templates/template-store.ts';

const field = 'body.deployRequest.blueprintId';

/** The address with the credentials for its host, which stay in the project that has them. @throws Refusal 400 */
function repositoryOf(context: ActorContext, row: TemplateRow, projectId: string): string {
  const credentials = openCredentials(context, row);
  // A template whose address was changed to another host may still have those of the host before.
  if (credentials === null || credentials.host !== hostOf(row.repository)) return row.repository;
  if (row.project_id !== projectId)
    throw badField(
      field,
      'refers to code whose address has credentials, which are not copied to another project: create the environment without a template',
    );
  const address = new URL(row.repository);
  address.username = encodeURIComponent(credentials.username);
  address.password = encodeURIComponent(credentials.password);
  return address.href;
}

/** A request for an environment with a template of its own. */
interface CopiedCode {
  readonly body: CreateEnvironmentBody;
  /** The template that has the code. */
  readonly templateId: string;
}

/**
 * @param body of a request to create an environment from a template
 * @returns the same request for an environment with a template of its own; null where it names another template
 * @throws Refusal 400 that names the field, 403 without the right to see that environment or to create ones without a template
 */
export async function copiedCode(
  context: ActorContext,
  body: CreateFromTemplateBody,
  organizationId: string,
): Promise<CopiedCode | null> {
  const { type, description, deployRequest, ...fields } = body;
  const row = await getTemplateRow(context.db, deployRequest.blueprintId ?? '');
  if (!row?.is_single_use || row.organization_id !== organizationId) return null;
  requireSight(context, row, pointerTo(field));
  const place = inProject({ organization_id: organizationId, id: body.projectId });
  requireRight(context.actor, place, 'CREATE_VCS_ENVIRONMENT', `${pointerTo(field)} of another environment`);
  const tool = templateTypes.find((each) => each === row.type);
  if (tool === undefined || (type !== undefined && type !== tool))
    throw badField('body.type', `must be the type of the template, ${row.type}, or absent`);
  const settings = without(row.settings, ['creationScope', 'creationScopeId', 'policyConfiguration']);
  const copy = {
    ...settings,
    ...fields,
    description: description ?? settings.description,
    organizationId,
    type: tool,
    repository: repositoryOf(context, row, body.projectId),
    deployRequest: without(deployRequest, ['blueprintId']),
  };
  return { body: copy as CreateEnvironmentBody, templateId: row.id };
}
