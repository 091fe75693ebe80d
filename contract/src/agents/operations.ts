/** Agents and their secrets. */
import { Type } from 'typebox';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import {
  Bytes,
  closed,
  Instant,
  mapOf,
  Name,
  nullable,
  orNull,
  Prose,
  replyObject,
  Text,
  Title,
} from '../schema/schema.ts';
import { Agent, AgentLogs, AgentSecret, AgentSecretEntry, ProjectAgents } from './shapes.ts';

const thisAgent = { entity: 'agent', in: 'params', field: 'agentKey' } as const;

const byAnyName =
  "The path accepts the agent's key or its id, and for the default agent any name that ends in _DEFAULT.";

const settingsText = (what: string) =>
  `${what}: the address of this service, the key of the agent, and where it keeps its files. Everything but the ` +
  `secret, which only its creation returns. ${byAnyName}`;

const inOrganization = {
  subject: { entity: 'organization', in: 'query', field: 'organizationId' },
  query: Type.Object({ organizationId: Name }),
} as const;

const force = (also: string) => Type.Optional(Type.Boolean({ description: `Also if ${also}` }));

export const operations = defineOperations('agents', {
  listAgents: operation('GET', '/agents', {
    summary: 'List agents',
    description:
      'The agents of an organization and those that all organizations share. Without organizationId: of all ' +
      'organizations of the caller, with a shared agent once for each of them. Only the operator sees who created ' +
      'a shared agent, and on which hosts it runs.',
    needs: 'signed-in',
    query: Type.Object({ organizationId: Type.Optional(Text) }),
    reply: Type.Array(Agent),
  }),
  createAgent: operation('POST', '/agents', {
    summary: 'Create agent',
    description:
      'The agent runs deployments of its organization only. It needs a secret: create one with the next ' +
      'operation.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({
      organizationId: Name,
      name: Title,
      description: orNull(Prose),
      logs: orNull(withoutEffect(AgentLogs, noEffects.agentLogs)),
    }),
    reply: Agent,
  }),
  listProjectAgents: operation('GET', '/agents/projects-assignments', {
    summary: 'List agents of projects',
    description:
      'Which agents run the deployments of which projects, as far as the caller may see them. A project that is ' +
      'missing has the default agent. Sub-projects have the agent of the nearest project above that has one. As long ' +
      'as the organization has not chosen a default agent, every agent without projects of its own counts as that.',
    needs: 'VIEW_ORGANIZATION',
    ...inOrganization,
    reply: ProjectAgents,
  }),
  assignProjectAgents: operation('POST', '/agents/projects-assignments', {
    summary: 'Assign agents to projects',
    description:
      'Changes the projects that are sent, all or none: ids of projects with keys or ids of agents. A name that ends ' +
      'in _DEFAULT stands for the default agent of the organization; null takes back what was assigned, so that the ' +
      'project has the agent of the project above. Holds for the next job: what an agent has begun, it ends.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...inOrganization,
    body: mapOf(nullable(Name), 'Agents by ids of projects'),
    reply: ProjectAgents,
  }),
  setDefaultAgent: operation('PUT', '/agents/projects-assignments/default', {
    summary: 'Set default agent',
    description:
      'The agent of projects that have no other. Null: every agent without projects of its own counts as that. A name ' +
      'that ends in _DEFAULT stands for the agent that all organizations share.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...inOrganization,
    body: closed({
      agent: nullable(Type.String({ minLength: 1, description: 'Key or id of the agent' })),
    }),
    reply: ProjectAgents,
  }),
  getAgent: operation('GET', '/agents/{agentKey}', {
    summary: 'Get agent',
    description:
      `${byAnyName} 404 for agents that run no deployments of the caller's organizations. Its version (ETag) changes ` +
      'with each contact of the agent.',
    needs: 'signed-in',
    params: Type.Object({ agentKey: Name }),
    reply: Agent,
  }),
  updateAgent: operation('PATCH', '/agents/{agentKey}', {
    summary: 'Update agent',
    description:
      `Changes the fields that are sent; null and the empty text clear a description, null clears logs. ${byAnyName} ` +
      'Only the operator changes a shared agent.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: thisAgent,
    params: Type.Object({ agentKey: Name }),
    body: closed({
      name: Type.Optional(Title),
      description: orNull(Prose),
      logs: orNull(withoutEffect(AgentLogs, noEffects.agentLogs)),
    }),
    reply: Agent,
    inInterface: true,
  }),
  getAgentValues: operation('GET', '/agents/{agentKey}/values', {
    summary: 'Get Helm values of an agent',
    description: settingsText('As YAML text, for a chart that runs the agent in Kubernetes'),
    needs: 'signed-in',
    params: Type.Object({ agentKey: Name }),
    reply: Bytes('The values'),
    replyKind: 'binary',
    replyType: 'text/yaml; charset=utf-8',
  }),
  getAgentDotenv: operation('GET', '/agents/{agentKey}/dotenv', {
    summary: 'Get environment file of an agent',
    description: settingsText('As lines of NAME=value, for a service unit or a container'),
    needs: 'signed-in',
    params: Type.Object({ agentKey: Name }),
    reply: Bytes('The environment file'),
    replyKind: 'binary',
    replyType: 'text/plain; charset=utf-8',
  }),
  createAgentSecret: operation('POST', '/agents/{agentKey}/secrets', {
    summary: 'Create agent secret',
    description:
      `The secret is shown only once. An agent has at most two that are valid, so that one can replace the other: 409 ` +
      `for a third one. Its processes exchange it for tokens of an hour at most. ${byAnyName}`,
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: thisAgent,
    params: Type.Object({ agentKey: Name }),
    body: closed({
      description: Type.Optional(Prose),
      expiresAt: Type.Optional(
        nullable(Type.Unsafe<string>({ ...Instant, description: 'When the secret ends; null: never' })),
      ),
    }),
    bodyOptional: true,
    reply: AgentSecret,
    inInterface: true,
  }),
  deleteAgent: operation('DELETE', '/agents/{agentKey}', {
    summary: 'Delete agent',
    description:
      `${byAnyName} Its secrets are deleted, too: its processes are refused from their next call on. 409 while it ` +
      'has runs or projects, and for the shared agent.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: thisAgent,
    params: Type.Object({ agentKey: Name }),
    query: Type.Object({
      force: force('the agent has runs: they count as lost when they were silent for long enough'),
    }),
    reply: replyObject('DeletedAgent', { id: Text }),
  }),
  listAgentSecrets: operation('GET', '/agents/{agentKey}/secrets', {
    summary: 'List agent secrets',
    description:
      'Who created them and when, when they were last used and when they end, newest first, with those that have ' +
      'ended. The secrets themselves cannot be read again.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: thisAgent,
    params: Type.Object({ agentKey: Name }),
    reply: Type.Array(AgentSecretEntry),
  }),
  deleteAgentSecret: operation('DELETE', '/agents/{agentKey}/secrets/{secretId}', {
    summary: 'Delete agent secret',
    description:
      'Processes that use the secret, or a token for it, are refused from their next call on. 409 for the last valid ' +
      'secret of an agent that has runs.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: thisAgent,
    params: Type.Object({ agentKey: Name, secretId: Name }),
    query: Type.Object({ force: force('it is the last one and the agent has runs') }),
    reply: replyObject('DeletedAgentSecret', { id: Text }),
  }),
});
