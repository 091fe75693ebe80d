/** Keys of organizations and of people, as what they manage. */
import { operations } from '#contract/operations.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import type { Place } from '../../rows/places.ts';
import {
  type ApiKeyRow,
  apiKeyHome,
  getApiKeyRow,
  listKeysOfOrganization,
  lockApiKeyRow,
} from '../../rows/users/api-key-store.ts';
import { apiKeyView, apiKeyViews } from './api-key-view.ts';
import { deleteApiKey, lockKey, updateApiKey } from './change-api-key.ts';
import { createApiKey } from './create-api-key.ts';
import { addSecret, deleteSecret } from './key-secrets.ts';
import { personalApiKeyRoutes } from './personal-api-key-routes.ts';

/** The organization of a key, which is where the right to it was checked. */
const organizationOf = (home: Place | null): string => home?.organizationId ?? '';

/** @throws Refusal 404 where the key is gone, 403 where it has rights that the caller does not have */
function withKey<Result>(
  context: ActorContext,
  id: string,
  home: Place | null,
  work: (context: ActorContext, row: ApiKeyRow) => Promise<Result>,
): Promise<Result> {
  return inTransaction(context, async (context) => {
    const row = await lockKey(context, { id, organizationId: organizationOf(home) });
    return work(context, row);
  });
}

const apiKeyRoutes: Route[] = [
  route(operations.listApiKeys, async ({ db }, { query: { organizationId } }) =>
    apiKeyViews(db, organizationId, await listKeysOfOrganization(db, organizationId)),
  ),
  route(operations.createApiKey, (context, { body }) => createApiKey(context, body)),
  route(operations.getApiKey, async ({ db }, { params: { id }, home }) =>
    apiKeyView(db, organizationOf(home), orNotFound(await getApiKeyRow(db, id), 'API key', id)),
  ),
  route(operations.updateApiKey, (context, { params, body, home }) =>
    updateApiKey(context, { id: params.id, organizationId: organizationOf(home) }, body),
  ),
  route(operations.deleteApiKey, (context, { params, home }) =>
    deleteApiKey(context, { id: params.id, organizationId: organizationOf(home) }),
  ),
  route(operations.addApiKeySecret, (context, { params, home }) =>
    withKey(context, params.id, home, addSecret),
  ),
  route(operations.deleteApiKeySecret, (context, { params, home }) =>
    withKey(context, params.id, home, (context, row) => deleteSecret(context, row, params.secretId)),
  ),
];

export const family: Family = {
  name: 'api-keys',
  routes: [...apiKeyRoutes, ...personalApiKeyRoutes],
  entities: { apiKey: apiKeyHome },
  locks: { apiKey: lockApiKeyRow },
};
