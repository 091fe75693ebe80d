/** SCIM 2.0 (RFC 7644), apart from the interface: identity providers provision people and teams with it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { scimBase } from '#contract/scim/operations.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { ownAdmission } from '../../framework/http/callers/authenticate.ts';
import { bodyText, parseJson, requireJsonType } from '../../framework/http/parse-body.ts';
import { scimContentType } from '../../framework/http/replies/scim-refusal.ts';
import { notFound, Refusal } from '../../ground/errors.ts';
import { createGroup, deleteGroup, patchGroup, replaceGroup } from './change-group.ts';
import { createUser, deleteUser, patchUser, replaceUser } from './change-user.ts';
import { resourceTypes, schemas, serviceProviderConfig } from './discovery.ts';
import { identifyProvisioner, type Provisioner } from './identify-provisioner.ts';
import { findGroup, listGroups } from './list-groups.ts';
import { findUser, listUsers } from './list-users.ts';
import { listResponse, type ScimQuery, selection } from './page.ts';
import type { ScimResource } from './resource.ts';
import type { ScimRequest } from './scim-request.ts';
import { searchAll, searching } from './search.ts';
import { scimAddress } from './service-address.ts';

type ScimHandler = (request: ScimRequest) => Promise<object | null>;

/** A group of ten thousand members. */
const bodyBytes = 2 * 1024 * 1024;

function bodyOf({ request }: ScimRequest): unknown {
  const text = bodyText(request.body);
  if (text.trim() === '') throw new Refusal('bad_request', 'The body is required');
  requireJsonType(request.headers['content-type']);
  return parseJson(text);
}

/** One resource. */
function shown(request: ScimRequest, resource: ScimResource): object {
  void request.reply.header('content-location', resource.meta.location);
  return selection(request.query)(resource);
}

function created(request: ScimRequest, resource: ScimResource): object {
  void request.reply.status(201).header('location', resource.meta.location);
  return selection(request.query)(resource);
}

function orNotFound<T>(found: T | undefined, kind: string, id: string): T {
  if (found === undefined) throw notFound(kind, id);
  return found;
}

interface ScimCall {
  readonly method: string;
  readonly path: string;
  readonly handle: ScimHandler;
}

/** Operations of one type of resource. */
interface ScimResources {
  list(request: ScimRequest): Promise<object>;
  find(request: ScimRequest, id: string): Promise<ScimResource | undefined>;
  create(request: ScimRequest, body: unknown): Promise<ScimResource>;
  replace(request: ScimRequest, id: string, body: unknown): Promise<ScimResource>;
  patch(request: ScimRequest, id: string, body: unknown): Promise<ScimResource>;
  remove(request: ScimRequest, id: string): Promise<void>;
}

/** @param kind as errors call such a resource */
function callsOf(kind: string, path: string, resources: ScimResources): ScimCall[] {
  const { list, find, create, replace, patch, remove } = resources;
  const one = `${path}/:id`;
  return [
    { method: 'GET', path, handle: list },
    {
      method: 'POST',
      path: `${path}/.search`,
      handle: async (request) => list(searching(request, bodyOf(request))),
    },
    {
      method: 'POST',
      path,
      handle: async (request) => created(request, await create(request, bodyOf(request))),
    },
    {
      method: 'GET',
      path: one,
      handle: async (request) =>
        shown(request, orNotFound(await find(request, request.id), kind, request.id)),
    },
    {
      method: 'PUT',
      path: one,
      handle: async (request) => shown(request, await replace(request, request.id, bodyOf(request))),
    },
    {
      method: 'PATCH',
      path: one,
      handle: async (request) => shown(request, await patch(request, request.id, bodyOf(request))),
    },
    {
      method: 'DELETE',
      path: one,
      handle: async (request) => {
        await remove(request, request.id);
        return null;
      },
    },
  ];
}

/** Every call, as `docs/operate/scim.md` lists them. */
const calls: readonly ScimCall[] = [
  {
    method: 'GET',
    path: '/ServiceProviderConfig',
    handle: async ({ address }) => serviceProviderConfig(address),
  },
  { method: 'GET', path: '/ResourceTypes', handle: async (request) => discovered(request, resourceTypes) },
  {
    method: 'GET',
    path: '/ResourceTypes/:id',
    handle: async (request) => discoveredOne(request, resourceTypes),
  },
  { method: 'GET', path: '/Schemas', handle: async (request) => discovered(request, schemas) },
  { method: 'GET', path: '/Schemas/:id', handle: async (request) => discoveredOne(request, schemas) },
  {
    method: 'POST',
    path: '/.search',
    handle: async (request) => searchAll(searching(request, bodyOf(request))),
  },
  ...callsOf('user', '/Users', {
    list: listUsers,
    find: findUser,
    create: createUser,
    replace: replaceUser,
    patch: patchUser,
    remove: deleteUser,
  }),
  ...callsOf('group', '/Groups', {
    list: listGroups,
    find: findGroup,
    create: createGroup,
    replace: replaceGroup,
    patch: patchGroup,
    remove: deleteGroup,
  }),
];

type Discover = (address: string) => { readonly id: string }[];

/** Such lists cannot be filtered (RFC 7644, 4). */
function discovered({ address, query }: ScimRequest, list: Discover): object {
  if (query['filter'] !== undefined) throw new Refusal('forbidden', 'This list cannot be filtered');
  const all = list(address);
  return listResponse(all.length, 1, all);
}

function discoveredOne({ address, id }: ScimRequest, list: Discover): object {
  return orNotFound(
    list(address).find((each) => each.id === id),
    'resource',
    id,
  );
}

function scimRequestOf(
  context: Context,
  { actor, organizationId }: Provisioner,
  request: FastifyRequest,
  reply: FastifyReply,
): ScimRequest {
  const actorContext: ActorContext = {
    ...context,
    actor,
    requestId: request.id,
    address: request.ip,
    log: request.log as Context['log'],
  };
  const { id = '' } = request.params as { id?: string };
  const query = request.query as ScimQuery;
  return {
    context: actorContext,
    organizationId,
    address: scimAddress(context, request),
    id,
    query,
    request,
    reply,
  };
}

/** Registers the calls below their own base path. */
export async function scimRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const provisioners = new WeakMap<FastifyRequest, Provisioner>();
  for (const { method, path, handle } of calls)
    app.route({
      method,
      url: `${scimBase}${path}`,
      bodyLimit: bodyBytes,
      config: ownAdmission,
      onRequest: async (request) =>
        void provisioners.set(request, await identifyProvisioner(context, request)),
      handler: async (request, reply) => {
        const scimRequest = scimRequestOf(context, provisioners.get(request) as Provisioner, request, reply);
        const answer = await handle(scimRequest);
        if (answer === null) return reply.status(204).send();
        return reply.type(scimContentType).send(JSON.stringify(answer));
      },
    });
}
