/** Creates a template, in an organization or in a project. */

import type { Template } from '#contract/templates/shapes.ts';
import {
  normalizeTemplate,
  type TemplateContentBody,
  type TemplateRequest,
} from '#contract/templates/template-body.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, type Refusal } from '../../ground/errors.ts';
import { inOrganization } from '../../rows/places.ts';
import { projectHome } from '../../rows/projects/project-store.ts';
import { insertTemplate } from '../../rows/templates/template-store.ts';
import { requireProjects } from '../../tenancy/projects/require-projects.ts';
import { checkTemplate } from './check-template.ts';
import { splitCredentials } from './repository-credentials.ts';
import { kindOf } from './template-kinds.ts';
import { templateSettings } from './template-settings.ts';
import { auditedTemplate, templateView } from './template-view.ts';

/** Scope in which a template is created. */
interface NewTemplateScope {
  readonly organizationId: string;
  readonly creationScope?: TemplateRequest['creationScope'];
  readonly creationScopeId?: string;
}

/**
 * The project that a request creates a template in; null: the organization.
 * @throws Refusal 400 that names the field
 */
export async function creationProject(
  { db }: Pick<ActorContext, 'db'>,
  { organizationId, creationScope, creationScopeId }: NewTemplateScope,
): Promise<string | null> {
  if (!creationScopeId) {
    if (creationScope === 'PROJECT')
      throw badField('body.creationScopeId', 'is required with creationScope PROJECT: the id of the project');
    return null;
  }
  if (creationScopeId === organizationId && creationScope !== 'PROJECT') return null;
  if (creationScope === 'ORGANIZATION')
    throw badField('body.creationScopeId', 'must be the organizationId with creationScope ORGANIZATION');
  const home = await projectHome(db, creationScopeId);
  if (home?.organizationId !== organizationId)
    throw badField('body.creationScopeId', 'does not match a project you have access to');
  return home.projectId;
}

/** A name that another template of the organization has. */
export function nameTaken({ name, type }: Pick<TemplateRequest, 'name' | 'type'>): Refusal {
  return conflict(`${kindOf(type).One} named "${name}" already exists: choose another name`);
}

/**
 * Projects are added to or removed from a template by people who may do so in each.
 * @throws Refusal 403
 */
export function requireProjectRights(
  { actor }: ActorContext,
  organizationId: string,
  projectIds: readonly string[],
): void {
  for (const projectId of projectIds)
    requireRight(
      actor,
      { ...inOrganization(organizationId), projectId },
      'MANAGE_PROJECT_TEMPLATES',
      `/body/projectIds with ${projectId}`,
    );
}

/** It is only known that the caller may create templates somewhere. @throws Refusal 400, 403 or 409 */
export async function createTemplate(
  context: ActorContext,
  body: TemplateContentBody & { readonly organizationId: string },
): Promise<Template> {
  const request = normalizeTemplate(body);
  const { organizationId } = body;
  const projectId = await creationProject(context, { ...request, organizationId });
  const place = { ...inOrganization(organizationId), projectId };
  requireRight(
    context.actor,
    place,
    'CREATE_AND_EDIT_TEMPLATES',
    projectId ? '/body/creationScopeId' : `${kindOf(request.type).One} of the organization`,
  );
  const { projectIds: sent = [] } = request;
  const projectIds = await requireProjects(context.db, organizationId, sent, 'body.projectIds');
  requireProjectRights(context, organizationId, projectIds);
  const users = [...projectIds, ...(projectId ? [projectId] : [])];
  await checkTemplate(context, request, { organizationId, projectIds: users, isSingleUse: false });
  const { repository, credentials } = splitCredentials(request.repository);
  return inTransaction(context, async (context) => {
    const row = await insertTemplate(context.db, context, {
      organizationId,
      projectId,
      projectIds,
      name: request.name,
      type: request.type,
      repository,
      isSingleUse: false,
      settings: templateSettings(request),
      credentials,
      authorId: context.actor.userId,
    });
    if (!row) throw nameTaken(request);
    await recordAudit(context, {
      organizationId,
      projectId,
      action: `${kindOf(row.type).entity}.created`,
      entityId: row.id,
      details: { name: row.name },
      ...changesOf(null, auditedTemplate(context, row)),
    });
    return templateView(context.db, row);
  });
}
