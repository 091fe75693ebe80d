/** Agents and their secrets. */
import { Type } from 'typebox';
import { defineOperations, operation } from '../operation.ts';
import { closed, Name, Prose, Text } from '../schema/schema.ts';
import { Agent, AgentSecret } from './shapes.ts';

export const operations = defineOperations('agents', {
  listAgents: operation('GET', '/agents', {
    summary: 'List agents',
    needs: 'signed-in',
    query: Type.Object({ organizationId: Type.Optional(Text) }),
    reply: Type.Array(Agent),
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
