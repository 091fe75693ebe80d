/**
 * Number of requests accepted in a minute: of an address for one method and path. Agents, event streams,
 * identity providers and tools that store states are counted by their credentials instead, so that a hundred of
 * them behind one address do not take each other's share.
 */
import { callbackify } from 'node:util';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { scimBase } from '#contract/scim/operations.ts';
import { stateProtocolBase } from '#contract/state/operations.ts';
import { protocolBase } from '#protocol/routes.ts';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { Refusal } from '../../../ground/errors.ts';
import { countName } from '../../../ground/limits/count-name.ts';
import { type Counts, windowMilliseconds } from '../../../ground/limits/counts.ts';
import { isUuid } from '../../../rows/entity-home.ts';
import type { Context } from '../../context.ts';
import { readCredentials, readScimToken, readSessionCookie } from '../callers/credentials.ts';
import { countedAddress } from '../callers/refused-callers.ts';
import { isScim } from '../replies/scim-refusal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer is an event stream, which has a limit of its own. */
    readonly isStream?: boolean;
  }
}

type RateLimitKind = 'rateLimit' | 'agentRateLimit' | 'streamRateLimit' | 'stateRateLimit';

/** The limit that applies to a request; null for the pages and probes that have none. */
function kindOf({ is404, url, routeOptions }: FastifyRequest): RateLimitKind | null {
  const path = is404 ? url : (routeOptions.url ?? '');
  if (path.startsWith(`${protocolBase}/`)) return 'agentRateLimit';
  if (path.startsWith(stateProtocolBase)) return 'stateRateLimit';
  if (routeOptions.config.isStream === true) return 'streamRateLimit';
  return is404 || path.startsWith('/api/') || path.startsWith(scimBase) ? 'rateLimit' : null;
}

/** The address as the router has read it: one path has many spellings (slashes at its end, percent signs). */
function routedPath({ is404, routeOptions: { url }, params }: FastifyRequest): string[] {
  return is404 ? ['unknown'] : [url ?? '', JSON.stringify(params)];
}

/**
 * Key of a counter. Credentials are not checked yet: callers cannot use up the share of others without theirs,
 * and those who try different ones are counted as callers that were refused.
 */
function callerOf(settings: ServerSettings, request: FastifyRequest, kind: RateLimitKind): string[] {
  const token = isScim(request) ? readScimToken(request.headers.authorization) : null;
  if (token !== null) return ['key', token.id, token.secret];
  const credentials =
    kind === 'rateLimit'
      ? null
      : (readCredentials(request.headers.authorization) ?? readSessionCookie(settings, request));
  if (!credentials) return ['address', countedAddress(request.ip)];
  const agent = kind === 'agentRateLimit' ? String(request.headers['x-envarium-agent'] ?? '') : '';
  return ['key', credentials.id, credentials.secret, ...(isUuid(agent) ? [agent] : [])];
}

/** The counts, as the plugin asks for them. */
function storeOf(counts: Counts) {
  return class Store {
    incr(
      name: string,
      done: (error: Error | null, result: { current: number; ttl: number }) => void,
      _window: number,
      limit: number,
    ): void {
      const adding = counts
        .add(name, limit)
        .then((count) => ({ current: count.count, ttl: count.milliseconds }));
      callbackify(() => adding)(done);
    }

    child() {
      return this;
    }
  };
}

/** Clients look for either name. */
function nameTwice(reply: FastifyReply): void {
  for (const name of ['limit', 'remaining', 'reset']) {
    const value = reply.getHeader(`x-ratelimit-${name}`);
    if (value !== undefined) reply.header(`ratelimit-${name}`, value);
  }
}

/** Registers the limits before the hooks of any route: callers without credentials are counted, too. */
export async function limitRate(app: FastifyInstance, context: Context): Promise<void> {
  const { settings, limits, keyHash } = context;
  const limitOf = (request: FastifyRequest) => {
    const kind = kindOf(request);
    return kind === null ? 0 : settings[kind];
  };
  await app.register(rateLimit, {
    global: false,
    max: limitOf,
    timeWindow: windowMilliseconds,
    store: storeOf(limits.requests),
    keyGenerator: (request) => {
      const kind = kindOf(request);
      if (kind === null) return '';
      return countName(keyHash, [
        kind,
        ...callerOf(settings, request, kind),
        request.method,
        ...routedPath(request),
      ]);
    },
    allowList: (request) => limitOf(request) === 0,
    errorResponseBuilder: (_request, limit) =>
      new Refusal(
        'rate_limited',
        `More than ${limit.max} requests for this method and path in 60 s: try again in ${limit.after}`,
      ),
  });
  const limit = app.rateLimit();
  app.addHook('onRequest', async (request, reply) => {
    try {
      await (limit as (request: FastifyRequest, reply: FastifyReply) => Promise<void>)(request, reply);
    } finally {
      nameTwice(reply);
    }
  });
}
