/** Replaces a template for all environments that use it, in one transaction. */

import type { Template } from '#contract/templates/shapes.ts';
import {
  normalizeTemplate,
  type TemplateContentBody,
  type TemplateRequest,
} from '#contract/templates/template-body.ts';
import { isRunnable, runnableTools } from '#protocol/tools/index.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import { openDeploymentsOf } from '../../rows/deployments/deployment-store.ts';
import { updatePlaceholders } from '../../rows/deployments/placeholder-store.ts';
import type { HostCredentials } from '../../rows/templates/columns.ts';
import {
  type LockedTemplate,
  lockTemplate,
  replaceTemplate,
  type TemplateRow,
} from '../../rows/templates/template-store.ts';
import { requireProjects } from '../../tenancy/projects/require-projects.ts';
import { checkTemplate } from './check-template.ts';
import { creationProject, nameTaken, requireProjectRights } from './create-template.ts';
import { environmentTemplate, templateColumns } from './environment-template.ts';
import { hostOf, splitCredentials } from './repository-credentials.ts';
import { isCreatable, kindOf } from './template-kinds.ts';
import { templateSettings } from './template-settings.ts';
import { auditedTemplate, placeOfTemplate, templateView } from './template-view.ts';

/** @throws Refusal 403 */
function requireEdit({ actor }: ActorContext, row: TemplateRow): void {
  const place = placeOfTemplate(row);
  if (row.is_single_use && actor.access.has('EDIT_VCS_ENVIRONMENT', place)) return;
  const why = row.is_single_use ? 'Without EDIT_VCS_ENVIRONMENT, this' : 'This';
  requireRight(actor, place, 'CREATE_AND_EDIT_TEMPLATES', why);
}

/** Settings that never change. @throws Refusal 400 that names the field */
async function checkPlace(context: ActorContext, row: TemplateRow, request: TemplateRequest): Promise<void> {
  const { organizationId = row.organization_id, creationScope, creationScopeId } = request;
  if (organizationId !== row.organization_id)
    throw badField('body.organizationId', 'is not the organization of the template');
  if (row.is_single_use || (!creationScope && !creationScopeId)) return;
  const projectId = await creationProject(context, { ...request, organizationId });
  if (projectId !== row.project_id)
    throw badField(
      creationScopeId ? 'body.creationScopeId' : 'body.creationScope',
      'cannot be changed: create another template there',
    );
}

/** The projects that may use the template afterwards. @throws Refusal 400 or 403 */
async function projectsAfter(
  context: ActorContext,
  row: TemplateRow,
  sent: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (sent === undefined) return row.project_ids;
  const ids = await requireProjects(context.db, row.organization_id, sent, 'body.projectIds');
  if (row.is_single_use) {
    if (ids.some((id) => id !== row.project_id))
      throw badField('body.projectIds', 'cannot be changed: this template belongs to a single environment');
    return row.project_ids;
  }
  const changed = [
    ...ids.filter((id) => !row.project_ids.includes(id)),
    ...row.project_ids.filter((id) => !ids.includes(id)),
  ];
  requireProjectRights(context, row.organization_id, changed);
  return ids;
}

/**
 * Environments with a tool that does not run, or does not read their states, could be neither deployed nor destroyed,
 * and what has operations of its own stays what it is.
 * @throws Refusal 400 or 409
 */
async function checkType(
  context: ActorContext,
  { row, environments }: LockedTemplate,
  { type }: TemplateRequest,
): Promise<void> {
  if (type === row.type) return;
  if (!isCreatable(row.type))
    throw badField('body.type', `cannot be changed: this is ${kindOf(row.type).one}, which stays one`);
  const environmentIds = environments.map(({ id }) => id);
  const open = await openDeploymentsOf(context.db, environmentIds);
  const change = { from: row.type, to: type, field: '/body/type' };
  await context.react('toolChanging', { environmentIds, open, ...change, by: context });
  if (isRunnable(type) || environments.length === 0) return;
  throw conflict(
    `/body/type ${type} cannot be run by this version, which runs ${runnableTools.join(', ')}, and ${environments.length} environments use the template: create another template`,
  );
}

/**
 * The credentials of an address are not shown, so a caller who sends it back as it was read keeps them, unless a git
 * token replaces them.
 * @returns undefined: those that are stored stay
 */
function credentialsAfter(
  row: TemplateRow,
  { repository, tokenId }: TemplateRequest,
): HostCredentials | null | undefined {
  const sent = splitCredentials(repository);
  if (sent.credentials) return sent.credentials;
  return hostOf(sent.repository) === hostOf(row.repository) && !tokenId ? undefined : null;
}

/** Environments that were never deployed show what they would be deployed from. */
async function refreshPlaceholders(
  context: ActorContext,
  row: TemplateRow,
  { environments }: LockedTemplate,
): Promise<void> {
  const waiting = environments.filter((each) => each.status === 'NEVER_DEPLOYED');
  const plain = waiting.filter(
    (each) => each.template_revision === null && each.template_repository === null,
  );
  const refresh = (some: LockedTemplate['environments'], template: TemplateRow) =>
    updatePlaceholders(
      context.db,
      some.flatMap((each) => each.latest_deployment_id ?? []),
      { ...templateColumns(template), updated_at: context.now() },
    );
  if (plain.length > 0) await refresh(plain, row);
  for (const each of waiting)
    if (!plain.includes(each)) await refresh([each], environmentTemplate(each, row));
}

/** A single-use template keeps the name that it got with its environment. @throws Refusal 400 */
function nameAfter(row: TemplateRow, name: string | undefined): string {
  if (name !== undefined) return name;
  if (!row.is_single_use) throw badField('body.name', 'is required');
  return row.name;
}

/** The right to change something in the organization was checked. @throws Refusal before anything is written */
export async function updateTemplate(
  context: ActorContext,
  id: string,
  body: Omit<TemplateContentBody, 'name'> & { readonly name?: string },
): Promise<Template> {
  return inTransaction(context, async (context) => {
    const locked = orNotFound(await lockTemplate(context.db, id), 'template', id);
    const { row } = locked;
    const request = normalizeTemplate({ ...body, name: nameAfter(row, body.name) });
    requireEdit(context, row);
    if (row.is_deleted) throw conflict(`"${row.name}" was deleted: create another one`);
    await checkPlace(context, row, request);
    const projectIds = await projectsAfter(context, row, request.projectIds);
    const users = row.project_id ? [...projectIds, row.project_id] : projectIds;
    const use = { organizationId: row.organization_id, projectIds: users, isSingleUse: row.is_single_use };
    await checkTemplate(context, request, use);
    await checkType(context, locked, request);
    const { creationScope, creationScopeId } = row.settings;
    const updated = await replaceTemplate(context.db, context, row, {
      name: request.name,
      type: request.type,
      repository: splitCredentials(request.repository).repository,
      projectIds,
      settings: { creationScope, creationScopeId, ...templateSettings(request) },
      credentials: credentialsAfter(row, request),
    });
    if (!updated) throw nameTaken(request);
    await refreshPlaceholders(context, updated, locked);
    await recordAudit(context, {
      organizationId: row.organization_id,
      projectId: row.project_id,
      action: `${kindOf(row.type).entity}.updated`,
      entityId: id,
      details: { name: updated.name, environments: locked.environments.length },
      ...changesOf(auditedTemplate(context, row), auditedTemplate(context, updated)),
    });
    return templateView(context.db, updated);
  });
}
