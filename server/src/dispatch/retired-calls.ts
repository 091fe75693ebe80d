/**
 * Calls that only agents of an older protocol make; they can be removed once `register` refuses those agents.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AgentCall, attemptOfCall } from './authenticate-agent.ts';
import { DispatchRefusal } from './refusals.ts';

export function retiredCalls(app: FastifyInstance, callOf: (request: FastifyRequest) => AgentCall): void {
  // Agents up to 1.1 ask for permission before they start an attempt. Nothing is stored.
  app.post('/jobs/:jobId/attempts/:attempt/confirm', async (request) => {
    const { fence } = (request.body ?? {}) as { fence?: unknown };
    const { attempt } = attemptOfCall(callOf(request), Number(fence));
    if (attempt.status === 'ended') throw new DispatchRefusal('fence_outdated', 'This attempt has ended');
    return {};
  });
}
