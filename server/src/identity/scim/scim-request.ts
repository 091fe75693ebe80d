/** A request of an identity provider whose token was checked. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ActorContext } from '../../framework/context.ts';
import type { ScimQuery } from './page.ts';

export interface ScimRequest {
  readonly context: ActorContext;
  readonly organizationId: string;
  /** The address of the service, with the base path. */
  readonly address: string;
  readonly id: string;
  readonly query: ScimQuery;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}
