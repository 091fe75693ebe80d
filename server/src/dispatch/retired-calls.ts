/**
 * Calls that only agents of an older protocol make; they can be removed once `register` refuses those agents.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { type CallingAgent, findAttempt } from './authenticate-agent.ts';
import { DispatchRefusal } from './refusals.ts';

export function retiredCalls(
  app: FastifyInstance,
  context: Context,
  callerOf: (request: FastifyRequest) => CallingAgent,
): void {
  // Agents up to 1.1 ask for permission before they start an attempt. Nothing is stored.
  app.post('/jobs/:jobId/attempts/:attempt/confirm', async (request) => {
    const agent = callerOf(request);
    const params = request.params as { jobId: string; attempt: string };
    const { fence } = (request.body ?? {}) as { fence?: unknown };
    const { attempt } = await findAttempt(context, agent, params, Number(fence));
    if (attempt.status === 'ended') throw new DispatchRefusal('fence_outdated', 'This attempt has ended');
    return {};
  });
}
