/** An identity provider in tests: it sends what such programs send. */
import assert from 'node:assert/strict';
import type { LightMyRequestResponse as Response } from 'fastify';
import type { TestApp } from './app.ts';
import { ok } from './client.ts';

/** Whatever the service answers; the tests say what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type ScimBody = any;

export interface ScimAnswer {
  readonly status: number;
  readonly body: ScimBody;
  readonly response: Response;
}

export type ScimMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** @param organizationId absent: the one of the app */
export async function scimClient(app: TestApp, organizationId = app.organizationId) {
  const { token } = await ok(app, 'createScimToken', { id: organizationId });
  const scim = async (method: ScimMethod, path: string, body?: unknown): Promise<ScimAnswer> => {
    const response = await app.app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json; charset=utf-8' },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    assert.notEqual(response.statusCode, 500, `${app.logged.at(-1)}`);
    if (response.statusCode === 204) assert.equal(response.body, '');
    else assert.equal(response.headers['content-type'], 'application/scim+json; charset=utf-8');
    return {
      status: response.statusCode,
      body: response.body === '' ? null : response.json(),
      response,
    };
  };
  return Object.assign(scim, { token });
}
