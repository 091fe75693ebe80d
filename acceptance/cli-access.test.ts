/** Access rights on the command line, against a real service. */
import assert from 'node:assert/strict';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiKey } from '#contract/api-keys/shapes.ts';
import type { Member } from '#contract/organizations/shapes.ts';
import type { CreatedAdmin, Invitation } from '#contract/people/shapes.ts';
import type { Role, RoleAssignment, TeamRoleAssignment } from '#contract/roles/shapes.ts';
import type { CurrentUser, Session, SignedIn } from '#contract/sign-in/shapes.ts';
import type { Team } from '#contract/teams/shapes.ts';
import { freePort } from '../tools/suite/free-port.ts';
import { commandLine } from './command-line.ts';
import { type RunningService, startService } from './service.ts';

const password = 'violet harbour lantern seventeen';

type Variables = Readonly<Record<string, string>>;

/** Requests that arrive within some seconds. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 300; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0) throw error;
      await delay(50);
    }
  }
}

/** A program that takes the place of a browser: it only keeps the address. */
async function fakeBrowser(folder: string): Promise<{ opener: string; opened: string }> {
  const [opener, opened] = [join(folder, 'opener'), join(folder, 'opened')];
  await rm(opened, { force: true });
  await writeFile(opener, `#!/bin/sh\nprintf %s "$1" > "${opened}.new" && mv "${opened}.new" "${opened}"\n`);
  await chmod(opener, 0o755);
  return { opener, opened };
}

/** A page in which Ada is signed in lets the command line sign in. @returns where it sends the browser */
async function approve(url: string, request: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const signedIn = await fetch(`${url}/api/auth/sign-in`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: 'ada@example.com', password }),
  });
  const { csrfToken } = (await signedIn.json()) as SignedIn;
  const cookie = signedIn.headers.getSetCookie().map((each) => each.split(';')[0]);
  const approved = await fetch(`${url}/api/auth/cli/approve`, {
    method: 'POST',
    headers: { ...headers, cookie: cookie.join('; '), 'x-csrf-token': csrfToken },
    body: JSON.stringify(request),
  });
  assert.equal(approved.status, 200);
  return ((await approved.json()) as { location: string }).location;
}

describe('people, teams, roles and keys from the command line', () => {
  let service: RunningService;

  const { run, good, bad, json } = commandLine(() => service);

  before(async () => {
    // No one listens there: where a browser would go is tested with the service.
    const oidc = { ENVARIUM_OIDC_ISSUER: 'http://127.0.0.1:9/', ENVARIUM_OIDC_CLIENT_ID: 'envarium' };
    // Addresses for redirects need the setting.
    const port = String(await freePort());
    const own = { ENVARIUM_PORT: port, ENVARIUM_BASE_URL: `http://127.0.0.1:${port}` };
    service = await startService({ settings: { ...oidc, ...own, ENVARIUM_OIDC_CLIENT_SECRET: 'a secret' } });
    await good`project create Shop`;
    await good`project create Cart --parent Shop`;
  });
  after(() => service?.[Symbol.asyncDispose]());

  test('whoami says who the key is, and plural names of groups mean the same', async () => {
    assert.match(await good`whoami`, /Identified by: +API key[^]*ORGANIZATION +ROLE[^]*Admin/);
    const { identifiedBy, organizations } = await json<CurrentUser>`whoami`;
    assert.deepEqual([identifiedBy, organizations.length], ['key', 1]);
    for (const group of ['organizations', 'projects', 'teams', 'roles', 'keys', 'users'])
      assert.ok(Array.isArray(await json`${group} list`), group);
    const wrong = await run(['whoami'], {
      ENVARIUM_API_URL: service.url,
      ENVARIUM_API_KEY: 'nobody',
      ENVARIUM_API_SECRET: 'wrong',
    });
    assert.deepEqual([wrong.status, /envarium login/.test(wrong.stderr)], [2, true], wrong.stderr);
  });

  test('people are invited with roles, and the link is printed alone', async () => {
    const invited = await run(['user', 'invite', 'ada@example.com', '--project-role', 'Shop=Deployer']);
    assert.match(invited.stdout, /^https?:\/\/\S+\/invitation#\S+\n$/, invited.stderr);
    assert.match(invited.stderr, /ada@example.com is invited until/);
    const [invitation] = await json<Invitation[]>`user invitations`;
    assert.equal(invitation?.permissions.projectsPermissions?.[0]?.projectRole, 'Deployer');
    assert.match(await good`user invitations`, /ada@example.com +User +Pending/);
    const renewed = await good`user renew-invitation ADA@example.com`;
    assert.notEqual(renewed, invited.stdout);
    const link = renewed.trim().split('#')[1] ?? '';
    await good`user invite eve@example.com`;
    await good`user revoke-invitation eve@example.com`;
    assert.doesNotMatch(await good`user invitations`, /eve@/);
    await service.client.call('acceptInvitation', { body: { token: link, name: 'Ada', password } });
    assert.match(await good`user list --no-keys`, /Ada +ada@example.com +person +User +Active/);
    assert.match(await bad`user invite nonsense`, /<email>/);
    assert.match(await bad`user invite x@example.com --project-role Shop`, /Shop=Deployer/);
    assert.match(await bad`user revoke-invitation nobody@example.com`, /user invitations/);
  });

  test('roles of members are changed, and members removed', async () => {
    await good`user set-role ada@example.com Admin`;
    const [ada] = await json<Member[]>`user list --search ada@`;
    assert.equal(ada?.role, 'Admin');
    assert.match(await bad`user set-role Ada User`, /last administrator/);
    const made = await json<CreatedAdmin>`user create-admin grace@example.com --name Grace`;
    const token = made.invitation?.link?.split('#')[1] ?? '';
    await service.client.call('acceptInvitation', { body: { token, name: 'Grace', password } });
    await good`user set-role Ada User`;
    assert.match(await bad`user set-role Ada Emperor`, /no role "Emperor".*role list/);
    assert.match(await bad`user remove Nobody`, /no user "Nobody".*user list/);
    assert.match(await good`user create-admin lin@example.com`, /^https?:\S+#\S+\n$/);
    assert.match(await good`user remove lin@example.com`, /no longer in the organization/);
    assert.doesNotMatch(await good`user list`, /lin@/);
  });

  test('teams are made, filled, filtered and deleted', async () => {
    await good`team create Platform --description ${'who runs it'}`;
    await good`team create Design`;
    assert.match(await good`team add-member Platform ada@example.com`, /MEMBER[^]*ada@example.com/);
    assert.match(await good`team show Platform`, /who runs it[^]*Ada/);
    assert.match(await good`team list`, /Platform +1/);
    assert.equal((await json<Team[]>`team list --limit 1`).length, 1);
    assert.deepEqual(
      (await json<Team[]>`team list --name Pla`).map(({ name }) => name),
      ['Platform'],
    );
    await good`role assign Planner --team Platform --project Shop`;
    const assigned = await json<Team[]>`team list --assigned-to-project Cart`;
    assert.deepEqual(
      assigned.map(({ name }) => name),
      ['Platform'],
      'inherited',
    );
    await good`team update Design --name Designers --default`;
    assert.equal((await json<Team>`team show Designers`).isDefaultTeam, true);
    await good`team update Designers --no-default`;
    assert.match(await good`team delete Designers`, /was deleted/);
    assert.match(await bad`team show Designers`, /no team "Designers".*team list/);
    assert.match(await bad`team create Platform`, /Platform/);
    assert.match(await bad`team remove-member Platform ${service.key}`, /is not a member/);
  });

  test('custom roles are made, changed, assigned, and kept while a user has them', async () => {
    const role = await json<Role>`role create Runner --right VIEW_PROJECT --right RUN_PLAN`;
    assert.deepEqual(role.permissions, ['VIEW_PROJECT', 'RUN_PLAN']);
    assert.match(await good`role list`, /Runner +custom +2[^]*Deployer +built-in, project/);
    assert.match(await good`role show Deployer`, /built-in, environment[^]*RUN_APPLY/);
    await good`role update Runner --name Launcher --right RUN_TASK`;
    assert.match(await good`role show Launcher`, /Rights: +RUN_TASK/);
    await good`role assign Launcher --user ada@example.com --project Cart`;
    const { users, teams } = await json<{
      users: RoleAssignment[];
      teams: TeamRoleAssignment[];
    }>`role assignments --project Cart`;
    assert.deepEqual([users.length, users[0]?.role, teams.length], [1, role.id, 0]);
    assert.match(await good`role assignments --project Cart`, /person +Ada +Launcher/);
    assert.match(await good`role assignments --project Shop`, /team +Platform +Planner/);
    assert.match(await good`role assignments`, /Ada +User/);
    const held = await good`role holders Cart --inherited`;
    assert.match(held, /Ada +Launcher +Cart/);
    assert.match(held, /Ada +Planner +Platform +Shop/);
    const explained = await good`role explain --user Ada --project Cart`;
    assert.match(explained, /RUN_TASK +Launcher +project Cart/);
    assert.match(explained, /RUN_PLAN +Planner +project Shop +Platform/);
    assert.match(await good`role explain`, /EDIT_ORGANIZATION_SETTINGS +Admin +organization/);
    assert.match(await bad`role delete Launcher`, /Ada/);
    await good`role unassign --user Ada --project Cart`;
    assert.match(await good`role unassign --user Ada --project Cart`, /has no role of its own/);
    await good`role unassign --team Platform --project Shop`;
    await good`role delete Launcher`;
    assert.match(await bad`role create Odd --right FLY`, /FLY/);
    assert.match(await bad`role create Empty`, /--right/);
    assert.match(await bad`role assign Planner --project Cart`, /either --user or --team/);
    assert.match(await bad`role assign Planner --user Ada --project Cart -e web`, /exclude each other/);
  });

  test('keys have roles, limits and two secrets while they are rotated', async () => {
    const made = await run([
      'key',
      'create',
      'ci',
      '--project-role',
      'Shop=Planner',
      '--owner',
      'ada@example.com',
      '--expires',
      '30d',
      '--network',
      '127.0.0.0/8',
      '--network',
      '::1',
    ]);
    assert.match(made.stdout, /^\S+\n$/, made.stderr);
    const [key] = (await json<ApiKey[]>`key list`).filter(({ name }) => name === 'ci');
    assert.ok(key?.expiresAt);
    assert.deepEqual([key.organizationRole, key.networks.length], ['User', 2]);
    const login = (secret: string): Variables => ({
      ENVARIUM_API_URL: service.url,
      ENVARIUM_API_KEY: key.apiKeyId,
      ENVARIUM_API_SECRET: secret.trim(),
    });
    assert.match((await run(['whoami'], login(made.stdout))).stdout, /Name: +ci/);
    const second = await good`key rotate ci`;
    assert.match(await bad`key rotate ci`, /two secrets/);
    assert.equal((await run(['whoami'], login(second))).status, 0);
    const { secrets } = await json<ApiKey>`key show ci`;
    assert.match(await good`key show ${key.apiKeyId}`, /Owner: [^]*SECRET +CREATED/);
    assert.match(await bad`key delete-secret ci nonsense`, /no such secret.*key show/);
    await good`key delete-secret ci ${secrets[0]?.id ?? ''}`;
    assert.equal((await run(['whoami'], login(made.stdout))).status, 2);
    const changed = await good`key update ci --expires infinite --all-networks --no-owner`;
    assert.match(changed, /Expires: +never\nNetworks: +all/);
    assert.doesNotMatch(changed, /Owner/);
    assert.match(await good`key revoke ci`, /was revoked/);
    assert.equal((await run(['whoami'], login(second))).status, 2);
    assert.match(await bad`key create odd --network nowhere`, /--network/);
    assert.match(await bad`key create odd --expires soon`, /--expires/);
    assert.match(await bad`key create odd --personal --role Admin`, /exclude each other/);
    assert.match(await bad`key show ci`, /no key "ci".*key list/);
  });

  test('a person logs in with a password from standard input, and out again', async () => {
    const file = join(service.folder, 'login', 'config.json');
    const person = { ENVARIUM_CONFIG_FILE: file };
    const login = ['login', '--api-url', service.url, '--email', 'ada@example.com'];
    const wrong = await run(login, person, 'not the password\n');
    assert.deepEqual(
      [wrong.status, /does not accept this e-mail/.test(wrong.stderr)],
      [2, true],
      wrong.stderr,
    );
    const both = await run([...login, '--api-key', 'x'], person, password);
    assert.deepEqual([both.status, /exclude each other/.test(both.stderr)], [2, true]);
    const loggedIn = await run(login, person, `${password}\n`);
    assert.equal(loggedIn.status, 0, loggedIn.stderr);
    assert.match(loggedIn.stdout, /session \(until 20\d\d-/);
    const stored = await readFile(file, 'utf8');
    assert.doesNotMatch(stored, /violet/);
    assert.match((await run(['whoami'], person)).stdout, /Name: +Ada\n[^]*Identified by: +session, until/);
    assert.match((await run(['session', 'list'], person)).stdout, /cli \(this one\)/);
    const personal = await run(['key', 'create', 'laptop', '--personal'], person);
    assert.match(personal.stdout, /^\S+\n$/, personal.stderr);
    assert.match((await run(['keys', 'list', '--personal'], person)).stdout, /laptop/);
    assert.match((await run(['key', 'rotate', 'laptop', '--personal'], person)).stdout, /^\S+\n$/);
    const shown = await run(['key', 'show', 'laptop', '--personal', '--json'], person);
    const secretId = (JSON.parse(shown.stdout) as ApiKey).secrets[0]?.id ?? '';
    const removed = await run(['key', 'delete-secret', 'laptop', secretId, '--personal'], person);
    assert.equal(removed.status, 0, removed.stderr);
    assert.match((await run(['key', 'revoke', 'laptop', '--personal'], person)).stdout, /was revoked/);
    const loggedOut = await run(['logout', '--json'], person);
    assert.deepEqual(JSON.parse(loggedOut.stdout), { file, isSessionEnded: true });
    await assert.rejects(readFile(file), { code: 'ENOENT' });
    assert.match((await run(['logout'], person)).stdout, /There was no login/);
    await writeFile(file, stored, { mode: 0o600 });
    assert.equal((await run(['whoami'], person)).status, 2, 'the session has ended');
    assert.match((await run(['logout'], person)).stdout, /was removed/);
  });

  test('a session is ended from another one, and a logout without the service removes the file', async () => {
    const files = ['one', 'two'].map((name) => join(service.folder, name, 'config.json'));
    const people = files.map((file) => ({ ENVARIUM_CONFIG_FILE: file }));
    for (const person of people)
      await run(['login', '--api-url', service.url, '--email', 'ada@example.com'], person, password);
    const listed = await run(['session', 'list', '--json'], people[0]);
    const other = (JSON.parse(listed.stdout) as Session[]).find(({ isCurrent }) => !isCurrent);
    const ended = await run(['session', 'end', other?.id ?? ''], people[0]);
    assert.equal(ended.status, 0, ended.stderr);
    assert.equal((await run(['whoami'], people[1])).status, 2);
    const [file = ''] = files;
    const login = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...login, apiUrl: 'http://127.0.0.1:1' }));
    const alone = await run(['logout'], people[0]);
    assert.deepEqual([alone.status, /could not be ended: .*It lasts until/.test(alone.stderr)], [0, true]);
  });

  test('a person logs in through a browser, which brings a code to this machine', async () => {
    const file = join(service.folder, 'browser', 'config.json');
    const { opener, opened } = await fakeBrowser(service.folder);
    const person = { ENVARIUM_CONFIG_FILE: file, BROWSER: opener };
    const ended = run(['login', '--api-url', service.url, '--browser'], person);
    const address = new URL(await eventually(() => readFile(opened, 'utf8')));
    assert.equal(address.origin + address.pathname, `${service.url}/api/auth/cli/start`);
    const parameters = Object.fromEntries(address.searchParams);
    const redirectUri = parameters['redirectUri'] ?? '';
    assert.equal((await fetch(new URL('/', redirectUri))).status, 404);
    assert.equal((await fetch(`${redirectUri}?code=forged&state=guessed`)).status, 400);
    const location = await approve(service.url, parameters);
    assert.match(await (await fetch(location)).text(), /Return to the terminal/);
    const { status, stdout, stderr } = await ended;
    assert.equal(status, 0, stderr);
    assert.match(stdout, /session \(until/);
    assert.match((await run(['whoami'], person)).stdout, /Ada[^]*session, until/);
    await run(['logout'], person);
  });

  test('a sign-in through a browser that is refused stores nothing', async () => {
    const file = join(service.folder, 'refused', 'config.json');
    const { opener, opened } = await fakeBrowser(service.folder);
    const login = ['login', '--api-url', service.url, '--browser'];
    const refuse = async (parameters: Readonly<Record<string, string>>) => {
      await rm(opened, { force: true });
      const ended = run(login, { ENVARIUM_CONFIG_FILE: file, BROWSER: opener });
      const { searchParams } = new URL(await eventually(() => readFile(opened, 'utf8')));
      const redirect = new URL(searchParams.get('redirectUri') ?? '');
      const state = searchParams.get('state') ?? '';
      redirect.search = new URLSearchParams({ ...parameters, state }).toString();
      await fetch(redirect);
      const { status, stderr } = await ended;
      assert.equal(status, 2, stderr);
      await assert.rejects(readFile(file), { code: 'ENOENT' });
      return stderr;
    };
    assert.match(
      await refuse({ error: 'access_denied', error_description: 'Not\u001b[31m you' }),
      /was refused: Not you/,
    );
    assert.match(await refuse({ code: 'of-somebody-else' }), /code was used already/);
    const both = await run([...login, '--email', 'ada@example.com'], { ENVARIUM_CONFIG_FILE: file });
    assert.deepEqual([both.status, /--email and --browser exclude/.test(both.stderr)], [2, true]);
  });
});
