/**
 * Every field of a path, a query or a body that holds an id, of every operation: an id that does not exist and one of
 * another organization get the same answer, 404 in a path and 400 that names the field elsewhere.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type JsonSchema, jsonSchemaOf, typesOf } from '#contract/documents/describe-schema.ts';
import { type OperationName, operations } from '#contract/operations.ts';
import type { ErrorBody } from '#contract/schema/errors.ts';
import type { Operation } from '#contract/schema/operation.ts';
import type { CallInput } from '../../../testing/client.ts';
import { createIdle } from '../../../testing/environment.ts';
import { withValue } from '../../../testing/fields.ts';
import { makeSamples, subjectsOf } from '../../../testing/samples.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, call, ok, createActive } = await startAgentTests();
const { ids, requestOf } = await makeSamples(app, await createActive());

const other = await app.addKey();
const { id: organizationId } = await ok('createOrganization', { body: { name: 'Other' }, as: other });
const { id: projectId } = await ok('createProject', { body: { organizationId, name: 'P' }, as: other });
const elsewhere = { ...app, admin: other, organizationId, projectId };
const foreign = (await makeSamples(elsewhere, await createIdle(elsewhere))).ids;
const foreignAgent = await ok('createAgent', { body: { organizationId, name: 'theirs' }, as: other });
const foreignIds: Readonly<Record<string, string>> = { ...foreign, agent: foreignAgent.agentKey };

/** Entities that the ids of a field refer to, apart from those that an operation declares as its subject. */
const entities: Readonly<Record<string, string>> = {
  organizationId: 'organization',
  assignedToOrganizationId: 'organization',
  projectId: 'project',
  projectIds: 'project',
  parentProjectId: 'project',
  targetProjectId: 'project',
  allowedProjectIds: 'project',
  assignedToProjectId: 'project',
  environmentId: 'environment',
  environmentIds: 'environment',
  upstreamEnvironmentId: 'environment',
  downstreamEnvironmentIds: 'environment',
  workflowEnvironmentId: 'environment',
  assignedToEnvironmentId: 'environment',
  blueprintId: 'template',
  workflowBlueprintId: 'template',
  deploymentLogId: 'deployment',
  deploymentId: 'deployment',
  deploymentIds: 'deployment',
  tokenId: 'gitToken',
  sshKeyIds: 'sshKey',
  vcsConnectionId: 'vcsConnection',
  setId: 'configurationSet',
  setIds: 'configurationSet',
  teamId: 'team',
  userId: 'user',
  userIds: 'user',
  ownerId: 'user',
  deployerUserIds: 'user',
  endpointId: 'notificationEndpoint',
  policyId: 'approvalPolicy',
  credentialId: 'credential',
};

interface Place {
  readonly operation: Operation & { name: OperationName };
  readonly part: 'params' | 'query' | 'body';
  readonly path: readonly string[];
  readonly entity: string;
  readonly isList: boolean;
}

function placesIn(
  operation: Place['operation'],
  part: Place['part'],
  schema: JsonSchema,
  path: readonly string[] = [],
): Place[] {
  const subjects = subjectsOf(operation).filter((subject) => subject.in === part);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = [...path, name];
    const own = path.length === 0 ? subjects.find((subject) => subject.field === name) : undefined;
    const ofKey = name === 'id' && /^ssh[kK]eys$/.test(path.at(-2) ?? '') ? 'sshKey' : undefined;
    const entity = own?.entity ?? entities[name] ?? ofKey;
    const isText = typesOf(field).includes('string');
    const isList = typesOf(field).includes('array') && typesOf(field.items ?? {}).includes('string');
    const here = entity && (isText || isList) ? [{ operation, part, path: at, entity, isList }] : [];
    const inner = field.properties ? placesIn(operation, part, field, at) : [];
    const each = field.items?.properties ? placesIn(operation, part, field.items, [...at, '0']) : [];
    return [...here, ...inner, ...each];
  });
}

const all = Object.values(operations) as (Operation & { name: OperationName })[];
const places = all.flatMap((operation) =>
  (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = operation[part];
    return schema ? placesIn(operation, part, jsonSchemaOf(schema)) : [];
  }),
);

const repository = 'https://git.example.com/code.git';
const projectsPermissions = [{ projectId: app.projectId, projectRole: 'Viewer' }];
const permissions = { organizationRole: 'User', projectsPermissions };
const inProject = { query: { repository, projectId: app.projectId } };

/** Preparation that a request needs to reach the check of the id. */
const bases: Readonly<Record<string, Readonly<Partial<Record<Place['part'], object>>>>> = {
  streamOrganization: { params: { id: app.organizationId } },
  createInvitation: { body: { permissions } },
  createApiKey: { body: { permissions } },
  explainPermissions: { query: { organizationId: app.organizationId } },
  setTeamAssignments: { body: { assignments: [{ teamId: ids['team'], projectRole: 'Viewer' }] } },
  listVariablesFromRepository: inProject,
  getPolicySchema: inProject,
  listRepositoryRevisions: inProject,
  assignConfigurationSets: { params: { scope: 'environment' } },
  assignApprovalPolicy: { body: { scope: 'PROJECT', scopeId: app.projectId } },
};

/** Fields that may hold any id, with the reason. */
const free: readonly RegExp[] = [
  // Rows of variables are written back as they were read: these fields of them say where a row comes from.
  /\.configuration(Changes|Properties|PropertiesChanges)\.(0\.)?(projectId|organizationId|userId)$/,
  /^saveVariables body\.0\./,
  // Ids that runs see, and ids of clouds.
  /\.customServiceEnvironmentVariables\./,
  /^(create|update)Credential body\.value\./,
  // Published clients store made-up ids of credentials: nothing reads the repositories of modules yet.
  /^(create|update)Module body\.(tokenId|vcsConnectionId|sshkeys)/,
  // Removing what is not there has answers of its own.
  /^unassignConfigurationSets query\.setIds$/,
  // The trail also has what was removed.
  /^list(Installation)?AuditEvents query\.projectId$/,
];

async function answerTo({ operation, part, path, isList }: Place, id: string) {
  const known = requestOf(operation) as Partial<Record<Place['part'], object>>;
  const base = bases[operation.name] ?? {};
  const request = {
    ...known,
    params: { ...known.params, ...base.params },
    query: { ...known.query, ...base.query },
    ...(base.body ? { body: { ...known.body, ...base.body } } : {}),
  };
  const body = withValue(request[part], path, isList ? [id] : id);
  const reply = await call(operation.name, { ...request, [part]: body } as CallInput);
  // Operations for MCP servers refuse in plain text.
  const isJson = reply.body.startsWith('{');
  const { message = '' } = isJson ? (reply.json() as Partial<ErrorBody>) : { message: reply.body };
  return { status: reply.statusCode, message: message.replaceAll(id, '<id>') };
}

const nameOf = ({ operation, part, path }: Place) => `${operation.name} ${part}.${path.join('.')}`;
const checked = places.filter((place) => !free.some((pattern) => pattern.test(nameOf(place))));

test('the walk covers many fields, and each entity has a sample in both organizations', () => {
  assert.ok(checked.length > 300, String(checked.length));
  const missing = checked.filter(({ entity }) => !ids[entity] || !foreignIds[entity]);
  assert.deepEqual(missing.map(nameOf), []);
});

for (const operation of new Set(checked.map((place) => place.operation)))
  test(`${operation.name}: unknown ids and those of another organization are refused in the same words`, async () => {
    for (const place of checked.filter((each) => each.operation === operation)) {
      const unknown = await answerTo(place, place.entity === 'user' ? 'nobody' : randomUUID());
      const ofOthers = await answerTo(place, foreignIds[place.entity] ?? '');
      const name = nameOf(place);
      assert.deepEqual(ofOthers, unknown, name);
      assert.equal(unknown.status, place.part === 'params' ? 404 : 400, `${name}: ${unknown.message}`);
      const field = place.path.findLast((step) => step !== '0') ?? '';
      const isNamed = place.part === 'params' || unknown.message.includes(`/${place.part}/`);
      assert.ok(
        isNamed && (place.part === 'params' || unknown.message.includes(field)),
        `${name}: ${unknown.message}`,
      );
    }
  });
