/** Agents and their secrets. */
import { Type } from 'typebox';
import { defineOperations, operation } from '../operation.ts';
import { closed, Name, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { Agent, AgentSecret } from './shapes.ts';

export const operations = defineOperations('agents', {
  listAgents: operation('GET', '/agents', {
    summary: 'List agents',
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
    body: closed({ organizationId: Name, name: Title, description: orNull(Prose) }),
    reply: Agent,
  }),
  createAgentSecret: operation('POST', '/agents/{agentKey}/secrets', {
    summary: 'Create agent secret',
    description: "The path accepts the agent's key or its id.",
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'agent', in: 'params', field: 'agentKey' },
    params: Type.Object({ agentKey: Name }),
    body: closed({ description: Type.Optional(Prose) }),
    bodyOptional: true,
    reply: AgentSecret,
    inInterface: true,
  }),
});
