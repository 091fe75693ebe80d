/**
 * Changes of a deploy request to the code that an environment runs: its template, the repository, the revision. A
 * template of its own is changed itself; of a shared one, the environment keeps what it replaces.
 */
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { requireTokenFor } from '../../../code/git-tokens/require-token-for.ts';
import { checkRepository, checkRevision } from '../../../code/templates/check-source.ts';
import { environmentTemplate } from '../../../code/templates/environment-template.ts';
import { requireUsableTemplate } from '../../../code/templates/use-template.ts';
import { requireRight } from '../../../framework/access/check-right.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { badField, conflict } from '../../../ground/errors.ts';
import { inEnvironment } from '../../../rows/places.ts';
import type { TemplateRow } from '../../../rows/templates/template-store.ts';
import type { RequestedCode } from '../inputs/run-inputs.ts';
import type { CodeChange, LastingChanges, StartRequest, StoredFacts } from '../inputs/start-facts.ts';
import { demandsOnEnvironment, requireKept } from './kept-demands.ts';

type RequestedSource = Pick<StartRequest, 'revision' | 'repository'> & Pick<LastingChanges, 'codeChange'>;

/**
 * The template that the request names; null where it is the environment's.
 * @throws Refusal 400 or 409, 403 where approvals that the template of the environment demands would be lost
 */
async function switchedTemplate(
  context: ActorContext,
  { environment, storedTemplate, open }: StoredFacts,
  { blueprintId: id, deploymentType }: RequestedCode,
  proposedBy: string | null,
): Promise<TemplateRow | null> {
  if (!id || id === environment.template_id) return null;
  const field = 'body.blueprintId';
  if (deploymentType !== 'deploy')
    throw badField(field, `must be the template of the environment for a ${deploymentType}: deploy it first`);
  const place = { organizationId: environment.organization_id, projectId: environment.project_id };
  const template = await requireUsableTemplate(context, place, id, field);
  const waiting = open.find(({ status }) => status === 'WAITING_FOR_USER');
  if (waiting)
    throw conflict(
      `The template cannot change while the ${waiting.type} ${waiting.id} waits for approval: approve or cancel it first`,
    );
  const before = await demandsOnEnvironment(context, environment);
  const after = await demandsOnEnvironment(context, { ...environment, template_id: template.id });
  const why = `/body/blueprintId: leaving the template "${storedTemplate.name}", which demands approvals,`;
  await requireKept(context, before, after, why, proposedBy);
  const change = { from: storedTemplate.type, to: template.type, field: '/body/blueprintId' };
  await context.react('toolChanging', { environmentIds: [environment.id], open, ...change, by: context });
  return template;
}

/**
 * The tokens of an environment go where its repository is: who moves it must be allowed to choose it.
 * @param isProposed the right was checked when it was proposed
 */
async function checkMove(
  context: ActorContext,
  { environment }: StoredFacts,
  { template, repository }: { readonly template: TemplateRow; readonly repository: string },
  isProposed: boolean,
): Promise<void> {
  const field = 'body.blueprintRepository';
  checkRepository(context, repository, field);
  if (repository !== template.repository && !isProposed)
    requireRight(
      context.actor,
      inEnvironment(environment),
      'EDIT_VCS_ENVIRONMENT',
      `/${field.replace('.', '/')}`,
    );
  const { tokenId } = template.settings;
  const { organization_id: organizationId, project_id: projectId } = environment;
  if (tokenId) await requireTokenFor(context.db, { organizationId, projectId, tokenId, repository }, field);
}

/** Overrides of a shared template by an environment, beginning with earlier ones. */
function overriding(
  before: { readonly template_revision: string | null; readonly template_repository: string | null },
  template: TemplateRow,
  requested: RequestedCode,
): CodeChange {
  const { blueprintRevision: revision, blueprintRepository: repository } = requested;
  const moved = repository || before.template_repository;
  const overrides = {
    template_revision: revision === undefined ? before.template_revision : revision || null,
    template_repository: moved === template.repository ? null : moved,
  };
  return {
    requested,
    template: environmentTemplate(overrides, template),
    columns: {
      template_id: template.id,
      is_single_use_template: template.is_single_use,
      ...overrides,
    },
  };
}

/**
 * Revision, repository and template count for this run and all later ones; with a type that only plans, for this
 * run.
 * @param proposedBy id of the user who proposed it and had the rights for it, if the caller approves it
 * @throws Refusal 400, 403 or 409 before anything is written
 */
export async function readSource(
  context: ActorContext,
  facts: StoredFacts,
  request: RequestedCode,
  proposedBy: string | null = null,
): Promise<RequestedSource> {
  const { deploymentType, blueprintId, blueprintRevision: revision, blueprintRepository } = request;
  const requested = { deploymentType, blueprintId, blueprintRevision: revision, blueprintRepository };
  const switched = await switchedTemplate(context, facts, requested, proposedBy);
  if (!switched && revision === undefined && blueprintRepository === undefined) return {};
  const template = switched ?? facts.template;
  checkRevision(revision, 'body.blueprintRevision');
  const repository = blueprintRepository || template.repository;
  if (blueprintRepository) await checkMove(context, facts, { template, repository }, proposedBy !== null);
  if (switched)
    return {
      codeChange: overriding({ template_revision: null, template_repository: null }, switched, requested),
    };
  if (planOnlyTypes.includes(deploymentType)) return { repository, revision };
  if (!template.is_single_use)
    return { codeChange: overriding(facts.environment, facts.storedTemplate, requested) };
  const changes = revision === undefined ? {} : { revision };
  const after = { ...template, repository, settings: { ...template.settings, ...changes } };
  return { codeChange: { requested, template: after, ownTemplate: { repository, settings: changes } } };
}
