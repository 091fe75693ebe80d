import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeReply, runAgainst } from '../../../testing/fake-service.ts';

const path = '/environment-discovery/projects/p1';
const at = '2030-01-05T06:00:00.000Z';
const discovery = {
  id: 't1',
  projectId: 'p1',
  organizationId: 'o1',
  name: 'discovery-of-Shop',
  repository: 'https://git.example.com/live.git',
  type: 'opentofu',
  globPattern: 'prod/**/main.tf',
  environmentPlacement: 'topProject',
  workspaceNaming: 'default',
  rootPath: 'prod',
  opentofuVersion: '1.10.6',
  retry: { onDeploy: { times: 2 } },
  isTerragruntRunAll: false,
  onRemoval: 'archive',
  removalLimitPercent: 20,
  updatedAt: at,
  authorId: 'u1',
};
const scan = (more: object = {}) => ({
  id: 's1',
  status: 'RUNNING',
  cause: 'user',
  isUnchanged: false,
  createdAt: at,
  ...more,
});
const counted = { files: 12, matched: 2, created: 1, removed: 0, commitHash: 'c0ffee' };
const finished = scan({ ...counted, status: 'SUCCESS', finishedAt: '2030-01-05T06:00:04.000Z' });
const folders = [
  {
    folder: 'modules/vpc',
    file: 'modules/vpc/main.tf',
    status: 'PASSED_OVER',
    reason: 'no alternative matches',
  },
  {
    folder: 'prod/app',
    file: 'prod/app/main.tf',
    status: 'MANAGED',
    environmentId: 'e1',
    environmentName: 'app',
  },
  {
    folder: 'prod/db',
    file: 'prod/db/main.tf',
    status: 'SKIPPED',
    reason: 'The name is taken',
    environmentName: 'db',
  },
];
const state = (more: object = {}) => ({
  nextPollAt: at,
  folders,
  passedOverCount: 1,
  lastScan: finished,
  ...more,
});
const replies = (more: Readonly<Record<string, FakeReply>> = {}): Record<string, FakeReply> => ({
  'GET /organizations': [{ id: 'o1', name: 'only' }],
  'GET /projects': [{ id: 'p1', name: 'Shop', organizationId: 'o1', hierarchy: 'p1', isArchived: false }],
  [`GET ${path}`]: discovery,
  [`GET ${path}/state`]: state(),
  ...more,
});

test('a configuration is shown with its last scan and each folder, and with --json as it is', async () => {
  const { stdout, stderr } = await runAgainst(['discovery', 'show', 'Shop'], replies());
  assert.match(stdout, /^Glob: +prod\/\*\*\/main\.tf$/m, stderr);
  assert.match(stdout, /^Tool: +opentofu 1\.10\.6$/m);
  assert.match(stdout, /^Asks first: +above 20 % of the environments$/m);
  assert.match(stdout, /^Last scan: +SUCCESS, 12 files, 2 matches, 1 environment created, 0 removed/m);
  assert.match(stdout, /^prod\/app +managed +app/m);
  assert.match(stdout, /^prod\/db +skipped +db +The name is taken/m);
  const json = await runAgainst(['discovery', 'show', 'Shop', '--json'], replies());
  assert.deepEqual(JSON.parse(json.stdout), discovery);
});

test('folders are listed by status, and those that are only counted are named as such', async () => {
  const { stdout } = await runAgainst(
    ['discovery', 'folders', 'Shop', '--status', 'skipped', '--status', 'managed'],
    replies(),
  );
  assert.match(stdout, /prod\/app/);
  assert.match(stdout, /prod\/db/);
  assert.doesNotMatch(stdout, /modules\/vpc/);
  const all = await runAgainst(
    ['discovery', 'folders', 'Shop'],
    replies({ [`GET ${path}/state`]: state({ passedOverCount: 1501 }) }),
  );
  assert.match(all.stdout, /1500 more were passed over/);
  const json = await runAgainst(
    ['discovery', 'folders', 'Shop', '--status', 'passed_over', '--json'],
    replies(),
  );
  const { folders: listed } = JSON.parse(json.stdout) as { folders: { status: string }[] };
  assert.deepEqual([...new Set(listed.map(({ status }) => status))], ['PASSED_OVER']);
  const none = await runAgainst(['discovery', 'folders', 'Shop', '--status', 'removed'], replies());
  assert.match(none.stdout + none.stderr, /No such folder/);
});

test('a change sends back what it does not name, and an empty text clears a setting', async () => {
  const { seen, stderr } = await runAgainst(
    ['discovery', 'set', 'Shop', '--glob', 'live/*/main.tf', '--root-path', '', '--on-removal', 'flag'],
    replies({ [`PUT ${path}`]: discovery }),
  );
  assert.deepEqual(
    seen.at(-1)?.body,
    {
      repository: 'https://git.example.com/live.git',
      type: 'opentofu',
      globPattern: 'live/*/main.tf',
      environmentPlacement: 'topProject',
      workspaceNaming: 'default',
      opentofuVersion: '1.10.6',
      retry: { onDeploy: { times: 2 } },
      isTerragruntRunAll: false,
      onRemoval: 'flag',
      removalLimitPercent: 20,
    },
    stderr,
  );
});

test('the first configuration has only what the options say', async () => {
  const { seen, stderr } = await runAgainst(
    [
      ...[
        'discovery',
        'set',
        'Shop',
        '--repository',
        'https://git.example.com/live.git',
        '--glob',
        '**/main.tf',
      ],
      ...[
        '--type',
        'terragrunt',
        '--tool-version',
        '0.77.22',
        '--run-all',
        '--placement',
        'existingSubProject',
      ],
    ],
    { ...replies({ [`PUT ${path}`]: discovery }), [`GET ${path}`]: undefined as never },
  );
  assert.deepEqual(
    seen.at(-1)?.body,
    {
      type: 'terragrunt',
      globPattern: '**/main.tf',
      environmentPlacement: 'existingSubProject',
      repository: 'https://git.example.com/live.git',
      terragruntVersion: '0.77.22',
      isTerragruntRunAll: true,
      retry: {},
    },
    stderr,
  );
});

test('discovery files replace a glob, and both together are refused', async () => {
  const { seen } = await runAgainst(
    ['discovery', 'set', 'Shop', '--discovery-files', 'acme/.*'],
    replies({ [`PUT ${path}`]: discovery }),
  );
  const body = seen.at(-1)?.body as Record<string, unknown>;
  assert.deepEqual(body.discoveryFileConfiguration, { repositoryRegex: 'acme/.*' });
  for (const name of ['repository', 'globPattern', 'rootPath', 'environmentPlacement'])
    assert.ok(!(name in body), name);
  const both = await runAgainst(
    ['discovery', 'set', 'Shop', '--discovery-files', 'a', '--glob', 'b'],
    replies(),
  );
  assert.equal(both.status, 2);
  assert.match(both.stderr, /either --glob or --discovery-files/);
});

test('a preview of what is stored sends nothing, and one with options sends the whole configuration', async () => {
  const preview = {
    commitHash: 'c0ffee',
    files: 12,
    passedOverCount: 1,
    asksFirst: true,
    folders: [
      { folder: 'prod/app', file: 'prod/app/main.tf', action: 'keep', environmentName: 'app' },
      { folder: 'prod/new', file: 'prod/new/main.tf', action: 'create', environmentName: 'new' },
      { folder: 'old', file: 'old/main.tf', action: 'askAboutRename', reason: 'It has the content of "x"' },
    ],
  };
  const all = replies({ [`POST ${path}/preview`]: preview });
  const stored = await runAgainst(['discovery', 'preview', 'Shop'], all);
  assert.deepEqual(stored.seen.at(-1)?.body, {});
  assert.match(stored.stdout, /^prod\/new +create +new/m);
  assert.match(stored.stdout, /^old +ask about rename +It has the content/m);
  assert.match(stored.stdout, /^In total: +keep 1, create 1, ask about rename 1$/m);
  assert.match(stored.stdout, /^Asks first: +yes/m);
  const changed = await runAgainst(['discovery', 'preview', 'Shop', '--glob', 'x/main.tf', '--json'], all);
  const body = changed.seen.at(-1)?.body as Record<string, unknown>;
  assert.equal(body.globPattern, 'x/main.tf');
  assert.equal(body.rootPath, 'prod');
  assert.deepEqual(JSON.parse(changed.stdout), preview);
});

test('a scan is followed to its end, and shows the folders that did not become environments', async () => {
  let looks = 0;
  const listed: FakeReply = (_, response) => {
    looks += 1;
    response.end(JSON.stringify([looks > 1 ? finished : scan(counted)]));
  };
  const { status, stdout, stderr, seen } = await runAgainst(
    ['discovery', 'scan', 'Shop'],
    replies({ [`POST ${path}/scans`]: scan(), [`GET ${path}/scans`]: listed }),
  );
  assert.equal(status, 0, stderr);
  assert.match(stderr, /RUNNING, 12 files, 2 matches/);
  assert.match(stdout, /^Took: +4\.0 s$/m);
  assert.match(stdout, /prod\/db +skipped/);
  assert.doesNotMatch(stdout, /prod\/app/);
  assert.ok(seen.some(({ call }) => call === `POST ${path}/scans`));
});

test('the exit status of a scan reflects its result', async () => {
  for (const [result, expected] of [
    ['FAILURE', 1],
    ['CANCELLED', 1],
    ['WAITING_FOR_USER', 3],
  ] as const) {
    const { status, stdout } = await runAgainst(
      ['discovery', 'scan', 'Shop', '--json'],
      replies({ [`POST ${path}/scans`]: scan({ status: result, error: 'A reason' }) }),
    );
    assert.equal(status, expected);
    assert.equal((JSON.parse(stdout) as { error: string }).error, 'A reason');
  }
});

test('the removal of many environments is confirmed for the last scan', async () => {
  const waiting = scan({ ...counted, status: 'WAITING_FOR_USER' });
  const { status, stderr, seen } = await runAgainst(
    ['discovery', 'confirm-removal', 'Shop', '--yes'],
    replies({
      [`GET ${path}/state`]: state({ lastScan: waiting }),
      [`POST ${path}/scans/s1/confirm-removal`]: scan(counted),
      [`GET ${path}/scans`]: [finished],
    }),
  );
  assert.equal(status, 0, stderr);
  assert.ok(seen.some(({ call }) => call === `POST ${path}/scans/s1/confirm-removal`));
});

test('a renamed folder needs a decision', async () => {
  const all = replies({ [`POST ${path}/renames`]: state() });
  const unclear = await runAgainst(['discovery', 'rename', 'Shop', 'prod/db'], all);
  assert.equal(unclear.status, 2);
  assert.match(unclear.stderr, /either --same or --another/);
  const { seen, stdout } = await runAgainst(['discovery', 'rename', 'Shop', 'prod/db', '--same'], all);
  assert.deepEqual(seen.at(-1)?.body, { folder: 'prod/db', isSame: true });
  assert.match(stdout, /prod\/db/);
  assert.doesNotMatch(stdout, /prod\/app/);
});

test('the configuration is deleted, and scans are listed', async () => {
  const { stdout } = await runAgainst(
    ['discovery', 'delete', 'Shop'],
    replies({ [`DELETE ${path}`]: { id: 't1' } }),
  );
  assert.match(stdout, /Environment discovery of Shop was deleted/);
  const failed = scan({ status: 'FAILURE', error: 'The branch does not exist', finishedAt: at });
  const scans = await runAgainst(
    ['discovery', 'scans', 'Shop'],
    replies({ [`GET ${path}/scans`]: [finished, failed] }),
  );
  assert.match(scans.stdout, /SUCCESS +user/);
  assert.match(scans.stdout, /FAILURE +user .*The branch does not exist/);
});
