/** The address at which identity providers reach the service. */
import type { FastifyRequest } from 'fastify';
import { scimBase } from '#contract/scim/operations.ts';
import type { Context } from '../../framework/context.ts';
import { baseUrlOf } from '../../framework/http/callers/base-url.ts';

/** The configured address, or the one that the request arrived at; with the base path of SCIM. */
export function scimAddress({ settings }: Pick<Context, 'settings'>, request: FastifyRequest): string {
  return `${baseUrlOf(settings, request)}${scimBase}`;
}
