/**
 * Every value of every enumeration in a query or a body: it is accepted, and stored, in effect, or answered with a
 * warning. What the interface itself forbids in a combination is listed with its reason.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type CredentialType, credentialKinds } from '#contract/credentials/kinds.ts';
import { type JsonSchema, jsonSchemaOf } from '#contract/documents/describe-schema.ts';
import { type OperationName, operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { warningHeader } from '#contract/schema/warning-header.ts';
import type { CallInput } from '../../../../testing/client.ts';
import { withValue } from '../../../../testing/fields.ts';
import { gitFolder } from '../../../../testing/git-repository.ts';
import { makeSamples } from '../../../../testing/samples.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const tests = await startAgentTests({ ENVARIUM_GIT_LOCAL_PATHS: `/srv/repositories,${folder.path}` });
const { app, organizationId, projectId, send, call, ok } = tests;
const { createActive, createIdle, forgetWork, createTemplate } = tests;
const environment = await createActive();
const { ids, requestOf } = await makeSamples(app, environment);
const { path: repository } = folder.repository('code', { 'main.tf': '', 'stack.yaml': 'Parameters: {}' });

let count = 0;
const newName = () => `walked-${++count}`;

interface Place {
  readonly operation: Operation & { name: OperationName };
  readonly part: 'query' | 'body';
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

type Found = Pick<Place, 'path' | 'values'>;

/** Null clears a field or means that it is absent: not a value of the list. */
function enumerationsIn(schema: JsonSchema, path: readonly string[] = []): Found[] {
  const listed = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const values = listed.filter((value) => value !== null);
  return [
    ...(values.length > 0 ? [{ path, values }] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      enumerationsIn(field, [...path, name]),
    ),
    ...(schema.items ? enumerationsIn(schema.items, [...path, '0']) : []),
    ...(schema.anyOf ?? []).flatMap((each) => enumerationsIn(each, path)),
  ];
}

const all = Object.values(operations) as Place['operation'][];
const places = all.flatMap((operation) =>
  (['query', 'body'] as const).flatMap((part) => {
    const schema = operation[part];
    return schema
      ? enumerationsIn(jsonSchemaOf(schema)).map((found): Place => ({ ...found, operation, part }))
      : [];
  }),
);

const nameOf = ({ operation, part, path }: Place) => `${operation.name} ${part}.${path.join('.')}`;

/** Values that are refused (400), with the reason. */
const forbidden: readonly (readonly [RegExp, string])[] = [
  [/^create\w+ body\.deployRequest\.deploymentType (?!deploy$)/, 'the first deployment is a deploy'],
  [
    /^create\w+ body\.\w+\.autoDriftRemediationStrategy (?!DISABLED$)/,
    'about drift runs, which are not the first',
  ],
  [/workflowDeploymentOptions\.operation /, 'about environments of a workflow only'],
  [/^createEnvironment body\.type workflow$/, 'only templates of workflows are stored so far'],
  [/^saveVariables body\.0\.scope DEPLOYMENT$/, 'only deployments write what they run with'],
  [/^saveVariables body\.0\.scope WORKFLOW$/, 'about environments of a workflow only'],
  [/^\w+ConfigurationSet body\..*format ENVIRONMENT_OUTPUT$/, 'references are for scopes of one project'],
  [
    /^\w+ConfigurationSet body\.configurationProp\w+\.0\.scope (?!SET$)/,
    'variables of a set have the scope SET',
  ],
];

/** Values whose effect the reply does not show, with the reason. */
const unseen: readonly (readonly [RegExp, string])[] = [
  [/^previewDiscovery /, 'decides what would be made'],
  [/ query\./, 'decides what is listed, read or cancelled'],
  [
    /\.configuration(Changes|Properties|PropertiesChanges)\.(0\.)?scope /,
    'says where an edited row was read',
  ],
  [/^(unassignCustomFlows|listCustomFlowAssignments) /, 'decides what is removed or listed'],
  [/autoDriftRemediationStrategy DISABLED$/, 'is what happens anyway'],
  [/^\w+Credential body\.value\./, 'values of credentials are not shown'],
];

const scopeIds: Readonly<Record<string, string | undefined>> = {
  organization: organizationId,
  project: projectId,
  ORGANIZATION: organizationId,
  PROJECT: projectId,
  BLUEPRINT: ids['template'],
  SUB_ENVIRONMENT_BLUEPRINT: `${ids['template']}:net`,
  SET: ids['configurationSet'],
  ENVIRONMENT: environment.id,
  WORKFLOW: environment.id,
  DEPLOYMENT: environment.latestDeploymentLogId ?? '',
};

/** Fields that templates of a type require. */
const ofType: Readonly<Record<string, object>> = {
  opentofu: { opentofuVersion: '1.9.0' },
  terragrunt: { terragruntVersion: '0.60.0' },
  ansible: { ansibleVersion: '10.0.0' },
  cloudformation: { fileName: 'stack.yaml' },
};

const ofFormat: Readonly<Record<string, string>> = {
  ENVIRONMENT_OUTPUT: JSON.stringify({ environmentId: environment.id, outputName: 'a' }),
};

const ofTtl: Readonly<Record<string, string | undefined>> = { DATE: '2400-01-31', HOURS: '5' };

const ofEndpoint = (type: unknown) => (type === 'Email' ? 'ops@example.com' : 'https://hooks.invalid/walked');

function credentialOf(type: CredentialType): object {
  return Object.fromEntries(credentialKinds[type].required.map((field) => [field, 'x']));
}

/** Fields that a value requires, for all operations: fields of the same object. */
function besides(place: Place, value: unknown): object {
  const field = place.path.at(-1) ?? '';
  const holder = place.path.at(-2) ?? '';
  if (holder === 'ttl') return { value: ofTtl[String(value)] };
  if (holder === 'workflowDeploymentOptions') return { node: 'net' };
  if (field === 'terragruntTfBinary') return { type: 'terragrunt', ...ofType['terragrunt'] };
  if (field === 'creationScope') return value === 'PROJECT' ? { creationScopeId: projectId } : {};
  return {};
}

/** The same for one operation. */
const needed: Readonly<Partial<Record<OperationName, (place: Place, value: string) => object>>> = {
  updatePolicy: () => ({ driftDetectionEnabled: true, driftDetectionCron: '0 4 * * *' }),
  updateDriftSchedule: () => ({ enabled: true, cron: '0 4 * * *' }),
  createTemplate: (_, value) => ({ name: newName(), ...ofType[value] }),
  updateTemplate: (_, value) => ({ name: newName(), ...ofType[value] }),
  listConfigurationSets: (_, value) => ({
    scopeId: scopeIds[value],
    projectId: value === 'project' ? projectId : undefined,
  }),
  createConfigurationSet: ({ path }, value) => ({
    name: newName(),
    ...(path[0] === 'scope' ? { scopeId: scopeIds[value] } : {}),
  }),
  listVariablesFromRepository: (_, value) => ({
    repository,
    ...(value === 'cloudformation' ? ofType[value] : {}),
  }),
  previewDiscovery: () => ({ repository }),
  createEnvironment: () => ({ preventAutoDeploy: false }),
  createEnvironmentWithoutTemplate: ({ path }, value) => ({
    preventAutoDeploy: false,
    ...(path[0] === 'type' ? ofType[value] : {}),
  }),
  updateEnvironmentTtl: (_, value) => ({ value: ofTtl[value] }),
  createGitToken: (_, value) => ({
    name: newName(),
    ...(value === 'REGISTRY' ? { hosts: ['registry.example.com'] } : {}),
  }),
  createVcsConnection: () => ({ name: newName() }),
  createModule: () => ({ moduleName: newName() }),
  createNotificationEndpoint: (_, value) => ({ name: newName(), value: ofEndpoint(value) }),
  updateNotificationEndpoint: (_, value) => ({ name: newName(), value: ofEndpoint(value) }),
  assignCustomFlows: (_, value) => ({ scopeId: scopeIds[value] }),
  unassignCustomFlows: (_, value) => ({ scopeId: scopeIds[value] }),
  listCustomFlowAssignments: (_, value) => ({ scopeId: scopeIds[value] }),
  assignApprovalPolicy: (_, value) => ({ scopeId: scopeIds[value] }),
  createCredential: (place, value) => ({ name: newName(), ...credentialWith(place, value) }),
  updateCredential: credentialWith,
  saveVariables: ({ path }, value) =>
    path.at(-1) === 'scope' ? { scopeId: value === 'GLOBAL' ? undefined : scopeIds[value] } : {},
};

function credentialWith({ path }: Place, value: string): object {
  const type = path[0] === 'type' ? (value as CredentialType) : 'AWS_OIDC';
  return { type, value: credentialOf(type) };
}

async function deployWith({ path }: Place, value: string): Promise<object> {
  if (path.at(-1) === 'autoDriftRemediationStrategy') return { deploymentType: 'driftDetection' };
  if (path.at(-1) !== 'deploymentType' || path.at(-2) === 'customServiceEnvironmentVariables') return {};
  if (value === 'task') return { taskPayload: 'true' };
  if (value !== 'remotePlan') return {};
  const uploaded = await send({
    method: 'POST',
    url: `/api/environments/${environment.id}/sources`,
    headers: { 'content-type': 'application/octet-stream' },
    payload: gzipSync(Buffer.alloc(1024)),
  });
  return { sourceId: uploaded.json<{ id: string }>().id };
}

/** Fields of the request, or of the one element of its array; undefined takes one away. */
function withFields(part: unknown, fields: object): unknown {
  const added = (to: unknown) =>
    Object.fromEntries(
      Object.entries({ ...(to as object), ...fields }).filter(([, value]) => value !== undefined),
    );
  return Array.isArray(part) ? [added(part[0])] : added(part);
}

/** The ids in the path, where others than those of the samples are needed. */
async function paramsFor({ operation, path }: Place, value: unknown): Promise<object> {
  if (operation.name === 'updateTemplate') {
    const isOfProject = path[0] === 'creationScope' && value === 'PROJECT';
    const place = isOfProject ? { creationScope: 'PROJECT', creationScopeId: projectId } : {};
    return { id: (await createTemplate(place)).id };
  }
  if (operation.name === 'assignNotificationEndpoint') return { endpointId: ids['notificationEndpoint'] };
  if (operation.name === 'deployEnvironment' && path.at(-2) === 'ttl') return { id: (await createIdle()).id };
  if (operation.name !== 'destroyEnvironment') return {};
  await forgetWork();
  return { id: (await createActive()).id };
}

const variables = /^configuration(Changes|Properties|PropertiesChanges)$/;

/** Variable at the start of the path, if any. */
function variableAt({ operation, path }: Place): readonly string[] | null {
  if (operation.name === 'saveVariables') return ['0'];
  const at = path.findIndex((step) => variables.test(step));
  if (at < 0) return null;
  return path.slice(0, path[at + 1] === '0' ? at + 2 : at + 1);
}

async function requestFor(place: Place, value: unknown, variable: string): Promise<CallInput> {
  const { operation, part, path } = place;
  const known = requestOf(operation);
  let changed: unknown = known[part];
  const at = variableAt(place);
  if (at !== null) {
    const scope =
      operation.name === 'saveVariables'
        ? { scope: 'ENVIRONMENT', scopeId: environment.id, organizationId }
        : {};
    const written = { ...scope, name: variable, type: 0, value: ofFormat[String(value)] ?? 'true' };
    changed = withValue(changed, at, written);
  }
  if (operation.name === 'createEnvironment' && path[0] === 'type') {
    const template = await createTemplate({ type: value, ...ofType[String(value)] });
    changed = withValue(changed, ['deployRequest', 'blueprintId'], template.id);
  }
  const more = needed[operation.name]?.(place, String(value)) ?? {};
  const toDeploy = operation.name === 'deployEnvironment' ? await deployWith(place, String(value)) : {};
  changed = withFields(changed, { ...more, ...toDeploy });
  for (const [field, next] of Object.entries(besides(place, value)))
    changed = withValue(changed, [...path.slice(0, -1), field], next);
  return {
    ...known,
    params: { ...known.params, ...(await paramsFor(place, value)) },
    [part]: withValue(changed, path, value),
  };
}

/** Whether a field has a value, or a list of values with it, anywhere in a document. */
function has(document: unknown, field: string, value: unknown): boolean {
  if (typeof document !== 'object' || document === null) return false;
  if (Array.isArray(document)) return document.some((each) => has(each, field, value));
  return Object.entries(document).some(
    ([name, inner]) =>
      (name === field && [inner].flat().includes(value)) ||
      (typeof inner === 'object' && has(inner, field, value)),
  );
}

/** The names that replies have for fields of requests. */
const shownAs: Readonly<Record<string, string>> = { deploymentType: 'type' };
const shownBySets: Readonly<Record<string, string>> = { scope: 'creationScope' };

interface Shown {
  readonly id?: string;
  readonly blueprintId?: string;
  readonly environmentId?: string;
  readonly latestDeploymentLogId?: string;
  readonly lifespanEndAt?: string | null;
  /** Of a bulk operation. */
  readonly data?: readonly { readonly deploymentId?: string }[];
}

/** Everything that shows what a request stored. */
async function documentsOf(place: Place, reply: Shown, variable: string): Promise<unknown[]> {
  const { name } = place.operation;
  if (name === 'saveVariables') return [reply];
  if (name === 'bulkDeploy') return [await ok('getDeployment', { id: reply.data?.[0]?.deploymentId ?? '' })];
  const ofSet = name.endsWith('ConfigurationSet') ? { setId: reply.id } : null;
  const deploymentLogId = name.startsWith('create') ? reply.latestDeploymentLogId : reply.id;
  if (variableAt(place) !== null) {
    const query = { organizationId, ...(ofSet ?? { deploymentLogId }) } as Record<string, string>;
    return (await ok('listVariables', { query })).filter((row) => row.name === variable);
  }
  if (name === 'createEnvironmentWithoutTemplate')
    return [reply, await ok('getTemplate', { id: reply.blueprintId ?? '' })];
  if (name === 'createEnvironment' && place.path[0] === 'type')
    return [await ok('getTemplate', { id: reply.blueprintId ?? '' })];
  return [reply];
}

async function isShown(place: Place, value: unknown, reply: Shown, variable: string): Promise<boolean> {
  const field = place.path.findLast((step) => step !== '0') ?? '';
  const isTtl = place.path.at(-2) === 'ttl' || place.operation.name === 'updateEnvironmentTtl';
  if (isTtl) {
    const id = reply.environmentId ?? reply.id ?? '';
    const { lifespanEndAt } = await ok('getEnvironment', { id });
    return (lifespanEndAt === null) === (value === 'INFINITE');
  }
  const documents = await documentsOf(place, reply, variable);
  const names = place.operation.name.endsWith('ConfigurationSet') ? shownBySets : shownAs;
  return has(documents, field, value) || has(documents, names[field] ?? field, value);
}

const isIn = (list: typeof forbidden, text: string) => list.some(([pattern]) => pattern.test(text));

async function check(place: Place, value: unknown): Promise<void> {
  const variable = newName();
  const text = `${nameOf(place)} ${String(value)}`;
  const request = await requestFor(place, value, variable);
  const answer = await call(place.operation.name, request);
  const about = `${text}: ${answer.statusCode} ${answer.body}`;
  if (isIn(forbidden, text)) {
    assert.equal(answer.statusCode, 400, about);
    return;
  }
  assert.equal(answer.statusCode, 200, about);
  const field = place.path.findLast((step) => step !== '0') ?? '';
  const warning = String(answer.headers[warningHeader] ?? '');
  if (warning.includes(`${field} `) || warning.startsWith('This is stored') || isIn(unseen, text)) return;
  assert.ok(await isShown(place, value, answer.json<Shown>(), variable), about);
}

test('the walk finds the enumerations of the interface, and each exception is about one of them', () => {
  const texts = places.flatMap((place) => place.values.map((value) => `${nameOf(place)} ${String(value)}`));
  assert.ok(texts.length > 300, String(texts.length));
  for (const [pattern] of [...forbidden, ...unseen])
    assert.ok(
      texts.some((text) => pattern.test(text)),
      String(pattern),
    );
});

for (const operation of new Set(places.map((place) => place.operation)))
  test(`${operation.name}: each value of its enumerations is stored, has its effect, or is answered with a warning`, async () => {
    const failures: string[] = [];
    for (const place of places.filter((each) => each.operation === operation))
      for (const value of place.values)
        await check(place, value).catch((error: Error) => failures.push(error.message));
    assert.deepEqual(failures, []);
  });
