/** The HTTP side of the service: request ids, logs, limits, error rendering, and one route per operation. */
import rateLimit from '@fastify/rate-limit';
import fastify, {
  LogController,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { stateProtocolBase } from '#contract/state/operations.ts';
import type { Context } from '../context.ts';
import type { Family } from '../family.ts';
import { authenticate } from './authenticate.ts';
import { Refusal } from './errors.ts';
import { bindRoute } from './route.ts';
import { answerShadowed } from './shadowed-operations.ts';

/** A variable of 1 MB travels well below this; plans and states travel by other ways. */
const bodyLimitBytes = 16 * 1024 * 1024;

function asRefusal(error: FastifyError | Refusal): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error.statusCode === 429) return new Refusal('rate_limited', error.message);
  if (error.statusCode === 413)
    return new Refusal('payload_too_large', `The body is larger than ${bodyLimitBytes} bytes`);
  if (error.statusCode !== undefined && error.statusCode < 500)
    return new Refusal('bad_request', error.message);
  return null;
}

function renderError(
  error: FastifyError | Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = asRefusal(error);
  if (!refusal) request.log.error({ err: error }, 'request failed');
  const { code, message, status, details } =
    refusal ??
    new Refusal(
      'internal',
      'The service failed on this request; its log has the cause under this request id',
    );
  // Without a browser's marks the header is right; with them it would open the browser's own window.
  const isBrowser = request.headers['sec-fetch-mode'] !== undefined || request.headers.cookie !== undefined;
  if (status === 401 && !isBrowser)
    reply.header('www-authenticate', 'Basic realm="envarium", charset="UTF-8"');
  const body: ErrorBody = {
    code,
    message,
    requestId: request.id,
    ...(details === undefined ? {} : { details }),
  };
  return reply.status(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Any content type and none: an operation decides by itself whether it reads the body. */
function readBodiesAsText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
}

async function limitRate(app: FastifyInstance, context: Context): Promise<void> {
  if (context.settings.rateLimit === 0) return;
  await app.register(rateLimit, {
    max: context.settings.rateLimit,
    timeWindow: 60_000,
    cache: 100_000,
    keyGenerator: (request) => `${request.ip} ${request.method} ${request.url.split('?', 1)[0]}`,
    allowList: (request) => !request.url.startsWith('/api/') && !request.url.startsWith(stateProtocolBase),
    errorResponseBuilder: (_request, limit) =>
      new Refusal('rate_limited', `More than ${limit.max} requests in 60 s: try again in ${limit.after}`),
  });
}

/** Builds the app out of the routes and plugins of the families, not yet listening. */
export async function buildApp(context: Context, families: readonly Family[]): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: context.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyLimitBytes,
    trustProxy: context.settings.trustedProxies.length > 0 ? [...context.settings.trustedProxies] : false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : context.newId();
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    frameworkErrors: (error, request, reply) => void renderError(error, request, reply),
    forceCloseConnections: true,
  }) as unknown as FastifyInstance;
  readBodiesAsText(app);
  app.setErrorHandler(renderError);
  // Who has no credentials does not learn which paths exist.
  app.setNotFoundHandler(async (request) => {
    await authenticate(context, request);
    throw new Refusal(
      'not_found',
      `There is no ${request.method} ${request.url.split('?', 1)[0]}; /api/openapi.json lists what there is`,
    );
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  await limitRate(app, context);
  answerShadowed(
    app,
    families.flatMap(({ routes = [] }) => routes),
  );
  const homes = new Map(families.flatMap(({ entities = {} }) => Object.entries(entities)));
  for (const { routes = [], plugin } of families) {
    for (const each of routes) bindRoute(app, context, homes, each);
    await plugin?.(app, context);
  }
  return app;
}
