/** People and their browsers in tests. */
import { randomUUIDv7 } from 'node:crypto';
import type { InjectOptions, LightMyRequestResponse as Response } from 'fastify';
import type { SignedIn } from '#contract/sign-in/shapes.ts';
import { hashPassword } from '../src/identity/sign-in/hash-password.ts';
import { storePasswordHash } from '../src/rows/sign-in/password-store.ts';
import type { TestApp } from './app.ts';

export const goodPassword = 'violet harbour lantern seventeen';

/** A person with a password. @param roles role by organization id */
export async function addPerson(
  { context }: TestApp,
  email: string,
  roles: Readonly<Record<string, string>> = {},
): Promise<string> {
  const id = randomUUIDv7();
  await context.db.insertInto('app_user').values({ id, name: email, email }).execute();
  await storePasswordHash(context.db, context, id, await hashPassword(goodPassword));
  for (const [organization_id, role] of Object.entries(roles))
    await context.db
      .insertInto('organization_member')
      .values({ organization_id, user_id: id, role })
      .execute();
  return id;
}

/** A browser: it keeps cookies, and sends the token of its session with changes. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  csrfToken: string | undefined;
  readonly #app: TestApp;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(app: TestApp, headers: Readonly<Record<string, string>> = {}) {
    this.#app = app;
    this.#headers = headers;
  }

  async send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    body?: unknown,
    more: InjectOptions = {},
  ) {
    const response = await this.#app.app.inject({
      method,
      url,
      ...more,
      headers: {
        'user-agent': 'Mozilla/5.0 (test)',
        ...(this.cookies.size > 0
          ? { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
          : {}),
        ...(this.csrfToken === undefined ? {} : { 'x-csrf-token': this.csrfToken }),
        ...this.#headers,
        ...more.headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    this.#keep(response);
    return response;
  }

  #keep(response: Response): void {
    for (const { name, value, maxAge } of response.cookies) {
      if (maxAge === 0) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }

  async signIn(email: string, password = goodPassword): Promise<SignedIn> {
    const response = await this.send('POST', '/api/auth/sign-in', { email, password });
    if (response.statusCode !== 200) throw new Error(response.body);
    const signedIn = response.json<SignedIn>();
    this.csrfToken = signedIn.csrfToken;
    return signedIn;
  }
}
