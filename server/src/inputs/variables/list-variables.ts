/** The variables that hold at a place, each with what it hides. */
import type { operations } from '#contract/operations.ts';
import { type VariableScope, variableScopes } from '#contract/schema/enumerations.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { JsonText, type KeptText, KeptTexts } from '../../framework/http/replies/json-text.ts';
import { badField, unknownEntity } from '../../ground/errors.ts';
import { getInputs, type InputsRow } from '../../rows/deployments/inputs-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import type { ScopeOf, VariableRow } from '../../rows/variables/variable-store.ts';
import { type FoundHome, findVisibleHome } from './find-home.ts';
import { levelsOf, storedScope } from './levels.ts';
import { compareNames, type ResolvedVariable, resolvePrecedence } from './precedence.ts';
import { readLevels, versionOfLevels } from './read-layers.ts';
import { hiddenView, schemaView, variableView } from './variable-view.ts';

type VariablesQuery = QueryOf<typeof operations.listVariables>;

/** Parameters that name a scope each, with the word for what they name. */
const named = [
  ['environmentId', 'ENVIRONMENT', 'environment'],
  ['workflowEnvironmentId', 'WORKFLOW', 'environment'],
  ['projectId', 'PROJECT', 'project'],
  ['blueprintId', 'BLUEPRINT', 'template'],
  ['workflowBlueprintId', 'BLUEPRINT', 'template'],
  ['workflowBlueprintIdSubAlias', 'SUB_ENVIRONMENT_BLUEPRINT', 'template'],
  ['setId', 'SET', 'configuration set'],
] as const satisfies readonly (readonly [keyof VariablesQuery, VariableScope, string])[];

/** Parameters that cannot be combined with others. */
const alone = ['setId', 'deploymentLogId'] as const;

/** All parameters are ids; one has the name of a sub-environment after it. */
function withStoredIds(query: VariablesQuery): VariablesQuery {
  const { workflowBlueprintIdSubAlias: alias, ...ids } = query;
  return {
    ...(Object.fromEntries(
      Object.entries(ids).map(([field, id]) => [field, id?.toLowerCase()]),
    ) as typeof ids),
    ...(alias === undefined
      ? {}
      : {
          workflowBlueprintIdSubAlias: storedScope({ scope: 'SUB_ENVIRONMENT_BLUEPRINT', scopeId: alias })
            .scopeId,
        }),
  };
}

function checkAlone(query: VariablesQuery): void {
  for (const field of alone) {
    const other = [...named.map(([name]) => name), ...alone].find((name) => name !== field && query[name]);
    if (query[field] && other) throw badField(`query.${field}`, `cannot be combined with ${other}`);
  }
}

function checkOrganization(query: VariablesQuery, organizationId: string, field: string): void {
  if (query.organizationId !== organizationId)
    throw badField('query.organizationId', `is not the organization of ${field}`);
}

/** @throws Refusal 400 for an id that is unknown or in another organization, 403 without the right to see it */
async function homesOf(context: ActorContext, query: VariablesQuery): Promise<FoundHome[]> {
  const homes: FoundHome[] = [];
  for (const [field, scope, entity] of named) {
    const scopeId = query[field];
    if (!scopeId) continue;
    const found = await findVisibleHome(context.db, context.actor, { scope, scopeId });
    if (!found) throw unknownEntity(`query.${field}`, entity);
    requireRight(context.actor, found.place, found.rightToView, `/query/${field}`);
    checkOrganization(query, found.place.organizationId, field);
    homes.push(found);
  }
  return homes;
}

function checkProject(query: VariablesQuery, [first]: readonly FoundHome[]): void {
  const isOfEnvironment = first && first.place.environmentId !== null;
  if (query.projectId && isOfEnvironment && first.place.projectId !== query.projectId)
    throw badField('query.projectId', 'is not the project of the environment');
}

/** A template that the request names takes the place of the one that its environment has. */
function isReplaced(query: VariablesQuery, { scope, scopeId }: ScopeOf): boolean {
  const templates = [
    query.blueprintId,
    query.workflowBlueprintId,
    query.workflowBlueprintIdSubAlias?.split(':')[0],
  ].filter(Boolean);
  return scope === 'BLUEPRINT' && templates.length > 0 && !templates.includes(scopeId);
}

/** All levels of several places in the order of precedence, each once. Pure. */
function mergedLevels(query: VariablesQuery, homes: readonly FoundHome[]): ScopeOf[] {
  const levels = [
    { scope: 'GLOBAL', scopeId: query.organizationId } as const,
    ...homes.flatMap(({ home }) => levelsOf(home)),
  ].filter((level) => !isReplaced(query, level));
  const distinct = new Map(levels.map((level) => [`${level.scope} ${level.scopeId}`, level]));
  const rank = ({ scope }: ScopeOf) => variableScopes.indexOf(scope);
  return [...distinct.values()].toSorted((one, other) => rank(one) - rank(other));
}

interface KeptList extends KeptText {
  /** With the same text, which is encoded and hashed once. */
  readonly reply: JsonText<Variable[]>;
}

/** Each takes twice as much memory: it is kept as text, and as the bytes that are sent. */
const mostCharacters = 20_000_000;

/** Whole lists: reading and writing thousands of variables takes ten times as long as asking whether they are the same. */
const keptLists = perServer(() => new KeptTexts<KeptList>(mostCharacters));

function resolvedView(context: ActorContext, { winner, hidden }: ResolvedVariable<VariableRow>): Variable {
  const outer = hidden.at(-1);
  return { ...variableView(context, winner), overwrites: outer ? hiddenView(context, outer) : null };
}

/** The list as JSON. Sensitive values are asterisks in it. */
async function replyOf(context: ActorContext, levels: readonly ScopeOf[]): Promise<JsonText<Variable[]>> {
  const key = JSON.stringify(levels);
  const version = await versionOfLevels(context.db, levels);
  const kept = keptLists(context).find(key, version);
  if (kept !== undefined) return kept.reply;
  // Read after the version: a later change gives the list another one.
  const resolved = resolvePrecedence((await readLevels(context.db, levels)).layers);
  const list = [...resolved.values()].map((each) => resolvedView(context, each)).toSorted(compareNames);
  const reply = new JsonText<Variable[]>(JSON.stringify(list));
  keptLists(context).keep(key, { version, text: reply.text, reply });
  return reply;
}

/** Variables of a deployment are fixed when it is requested. */
function snapshotOf({ variables, organization_id: organizationId }: InputsRow): Variable[] {
  return variables.map(({ schema, scopeId, ...variable }) => ({
    ...variable,
    // Older rows have the organization's id.
    ...(scopeId === undefined || variable.scope === 'GLOBAL' ? {} : { scopeId }),
    organizationId,
    schema: schemaView(schema ?? null),
    overwrites: null,
  }));
}

async function ofDeployment(context: ActorContext, query: VariablesQuery, id: string): Promise<Variable[]> {
  const row = isUuid(id) ? await getInputs(context.db, id) : undefined;
  if (!row || !context.actor.access.isMember(row.organization_id))
    throw unknownEntity('query.deploymentLogId', 'deployment');
  checkOrganization(query, row.organization_id, 'deploymentLogId');
  return snapshotOf(row).toSorted(compareNames);
}

/**
 * The right to see the first of the places that the request names was checked.
 * @throws Refusal 400 that names the parameter, 403 without the right to see one of the places
 */
export async function listVariables(
  context: ActorContext,
  requested: VariablesQuery,
): Promise<JsonText<Variable[]>> {
  const query = withStoredIds(requested);
  checkAlone(query);
  if (query.deploymentLogId)
    return new JsonText(JSON.stringify(await ofDeployment(context, query, query.deploymentLogId)));
  const homes = await homesOf(context, query);
  checkProject(query, homes);
  const levels = query.setId ? levelsOf(homes[0]!.home) : mergedLevels(query, homes);
  return replyOf(context, levels);
}
