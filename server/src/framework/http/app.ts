/** The HTTP side of the service: request ids, logs, limits, error rendering, and one route per operation. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { protocolBase } from '#protocol/routes.ts';
import type { Context } from '../context.ts';
import type { Family } from '../family.ts';
import { authenticate } from './callers/authenticate.ts';
import { refuseForeignPages } from './callers/cross-site.ts';
import { readForwarded } from './callers/forwarded.ts';
import { limitRate } from './connections/limit-rate.ts';
import { prepareStop } from './connections/stop.ts';
import { closeUnreadBodies, limitTimes } from './connections/time-limits.ts';
import { readPair, secure, serverOptions } from './connections/tls.ts';
import { bodyJsonLimits, readText } from './parse-body.ts';
import { Addresses } from './paths/addresses.ts';
import { answerShadowed, answerUnrouted, KnownMethods } from './paths/known-methods.ts';
import { prepareCompression } from './replies/compression.ts';
import { answerMalformed, answerOddRequests, renderError } from './replies/render-error.ts';
import { isScim } from './replies/scim-refusal.ts';
import { bindRoute, readersOf } from './route.ts';

/** Of requests whose route declares no other limit. */
const smallBodyBytes = 64 * 1024;

/**
 * Any content type, a malformed one and none: each operation decides whether it reads the body, and as what.
 */
function readBodiesAsText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    readText(request, payload, bodyJsonLimits),
  );
  app.addHook('onRequest', async ({ method, raw: { headers } }) => {
    const type = headers['content-type'];
    // Fastify refuses a QUERY without a type before it looks whether the path has this method.
    if (type === undefined && method === 'QUERY') headers['content-type'] = 'application/octet-stream';
    if (type !== undefined && !/^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/.test(type))
      headers['content-type'] = 'application/octet-stream';
  });
}

/** Credentials come before everything else: nothing of a body is read for an unknown caller. */
function admitCallers(app: FastifyInstance, context: Context): void {
  app.addHook('onRequest', async (request) => {
    const { is404, url, routeOptions } = request;
    const isProtocol = is404 && (url.startsWith(`${protocolBase}/`) || isScim(request));
    if (!isProtocol && routeOptions.config.admission === undefined) await authenticate(context, request);
  });
}

/** Builds the app out of the routes and plugins of the families, not yet listening. */
export async function buildApp(context: Context, families: readonly Family[]): Promise<FastifyInstance> {
  const pair = readPair(context.settings);
  const addresses = new Addresses(context.settings);
  const app = fastify({
    loggerInstance: context.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: smallBodyBytes,
    trustProxy: context.settings.trustedProxies.length > 0 ? [...context.settings.trustedProxies] : false,
    requestIdHeader: false,
    rewriteUrl: addresses.rewrite,
    ...serverOptions(context.settings, pair),
    ...requestIds(context.newId),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    frameworkErrors: (error, request, reply) => void renderError(error, request, reply),
    clientErrorHandler: (error, socket) => answerMalformed(error, socket, context.newId()),
    // `closeApp` lets open requests end; one that still arrives is answered like any other.
    return503OnClosing: false,
  }) as unknown as FastifyInstance;
  if (pair !== null) secure(app, context, pair);
  app.decorateRequest('call', null);
  app.decorateRequest('session', null);
  prepareStop(app, context);
  readBodiesAsText(app);
  app.setErrorHandler(renderError);
  addresses.collect(app);
  const known = new KnownMethods(app);
  app.setNotFoundHandler(async (request, reply) => answerUnrouted(known, request, reply));
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  answerOddRequests(app, context.newId);
  closeUnreadBodies(app);
  limitTimes(app, context.settings);
  readForwarded(app, context.settings);
  refuseForeignPages(app, context.settings);
  await limitRate(app, context);
  admitCallers(app, context);
  await prepareCompression(app);
  const allRoutes = families.flatMap(({ routes = [] }) => routes);
  answerShadowed(
    app,
    allRoutes.map(({ operation }) => operation),
  );
  const versions = {
    homes: new Map(families.flatMap(({ entities = {} }) => Object.entries(entities))),
    locks: new Map(families.flatMap(({ locks = {} }) => Object.entries(locks))),
    readers: readersOf(allRoutes),
  };
  for (const { routes = [], plugin } of families) {
    for (const each of routes) bindRoute(app, context, versions, each);
    await plugin?.(app, context);
  }
  return app;
}

/** Id of the request from the caller, if it is short and harmless. */
function clientRequestId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-request-id'];
  return typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}

/**
 * The service gives each request its own id, for its log and the audit trail. An id that the caller sends is
 * only logged as well: callers could otherwise give different requests the same id.
 */
function requestIds(newId: () => string): Pick<FastifyServerOptions, 'genReqId' | 'childLoggerFactory'> {
  return {
    genReqId: () => newId(),
    childLoggerFactory: (log, bindings, options, { headers }) => {
      const id = clientRequestId(headers);
      return log.child(id === undefined ? bindings : { ...bindings, clientRequestId: id }, options);
    },
  };
}
