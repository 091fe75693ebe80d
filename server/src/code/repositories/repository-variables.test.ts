import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { gitFolder } from '../../../testing/git-repository.ts';
import { startTests } from '../../../testing/start.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const { app, ok, refused } = await startTests({ ENVARIUM_GIT_LOCAL_PATHS: folder.path });

const read = (repository: string, query: Readonly<Record<string, string>> = {}) =>
  ok('listVariablesFromRepository', { query: { repository, ...query } });
const refusal = async (
  status: number,
  repository: string,
  query: Readonly<Record<string, string>> = {},
): Promise<string> =>
  (await refused('listVariablesFromRepository', status, { query: { repository, ...query } })).message;

test('variables are read in the order of the files, with all that their blocks say', async () => {
  covers('listVariablesFromRepository', 'query.repository', 'query.path', 'reply');
  covers('RepositoryVariable', 'name', 'scope', 'type', 'value', 'description', 'isSensitive');
  covers('RepositoryVariable', 'isRequired', 'schema', 'valueType', 'isNullable', 'rules');
  const code = folder.repository('plain', {
    'b.tf': `
# variable "alpha" {}
variable "zeta" {
  type        = string
  default     = "a $\${literal} \\"quoted\\" %%{text}"
  description = "  The last letter  "
}
/* variable "alpha" { */
variable "alpha" {
  type      = number
  default   = 12345678901234567890
  sensitive = true
}
resource "null_resource" "x" {}
variable bare {}
`,
    'a.tf': `
variable "stage" {
  type     = string
  nullable = false
  validation {
    condition     = contains(["dev", "prod"], var.stage)
    error_message = "dev or prod"
  }
}
variable "zones" {
  type    = list(string)
  default = ["a", "$\${b}"]
}
variable "tags" { type = map(string) }
variable "none" { default = null }
variable "on" { default = true }
`,
    'c.tf.json': '{"variable": {"from_json": {"default": {"k": [1, "x"]}, "description": "d"}}}',
    'sub/other.tf': 'variable "hidden" {}',
    'README.md': 'variable "readme" {}',
  });
  assert.deepEqual(await read(code.path), [
    {
      name: 'stage',
      scope: 'BLUEPRINT',
      type: 1,
      isSensitive: false,
      isRequired: true,
      valueType: 'string',
      isNullable: false,
      rules: ['dev or prod'],
      schema: { type: 'string', enum: ['dev', 'prod'] },
    },
    row('zones', {
      value: '["a","${b}"]',
      valueType: 'list(string)',
      schema: { type: 'string', format: 'JSON' },
    }),
    row('tags', {
      isRequired: true,
      valueType: 'map(string)',
      schema: { type: 'string', format: 'JSON' },
    }),
    row('none'),
    row('on', { value: 'true' }),
    row('zeta', {
      value: 'a ${literal} "quoted" %{text}',
      description: 'The last letter',
      valueType: 'string',
    }),
    row('alpha', { value: '12345678901234567890', isSensitive: true, valueType: 'number' }),
    row('bare', { isRequired: true }),
    row('from_json', {
      value: '{"k":[1,"x"]}',
      description: 'd',
      schema: { type: 'string', format: 'JSON' },
    }),
  ]);
  assert.deepEqual(await read(code.path, { path: '/sub/' }), [row('hidden', { isRequired: true })]);
});

function row(name: string, more: object = {}) {
  return {
    name,
    scope: 'BLUEPRINT',
    type: 1,
    isSensitive: false,
    isRequired: false,
    schema: { type: 'string' },
    ...more,
  };
}

test('a branch, a tag, a commit and an abbreviated commit are read as they were', async () => {
  covers('listVariablesFromRepository', 'query.revision');
  const code = folder.repository('revisions', { 'main.tf': 'variable "first" {}' });
  const first = code.git('rev-parse', 'HEAD');
  code.git('tag', '-a', 'v1', '-m', 'annotated');
  code.git('branch', 'feature/x');
  code.commit({ 'main.tf': 'variable "second" {}' });
  const names = async (revision: string) => (await read(code.path, { revision })).map(({ name }) => name);
  assert.deepEqual(await names(''), ['second']);
  code.git('branch', 'both', first);
  code.git('tag', 'both');
  const named = ['refs/tags/v1', 'refs/heads/feature/x', 'refs/heads/both'];
  for (const revision of ['v1', 'feature/x', first, first.slice(0, 9), ...named])
    assert.deepEqual(await names(revision), ['first'], revision);
  assert.deepEqual(await names('refs/tags/both'), ['second']);
  assert.match(
    await refusal(400, code.path, { revision: 'refs/tags/nowhere' }),
    /^\/query\/revision is refused: revision "refs\/tags\/nowhere" does not exist in/,
  );
  assert.match(
    await refusal(400, code.path, { revision: 'nowhere' }),
    /^\/query\/revision is refused: revision "nowhere" does not exist in/,
  );
  assert.deepEqual(await ok('listRepositoryRevisions', { query: { repository: code.path } }), {
    heads: ['both', 'feature/x', 'main'],
    tags: ['both', 'v1'],
  });
});

test('a repository without variables has none', async () => {
  const code = folder.repository('empty', { 'main.tf': 'locals {}', 'notes.md': '' });
  assert.deepEqual(await read(code.path), []);
  assert.deepEqual(await read(code.path, { type: 'k8s', sshKeyIds: '[]', path: '', revision: '' }), []);
});

test('links are followed inside the repository and never out of it', async () => {
  const code = folder.repository('links', {
    'shared/variables.tf': 'variable "shared" {}',
    'live/variables.tf': { link: '../shared/variables.tf' },
    'live/outside.tf': { link: '/etc/passwd' },
    'live/above.tf': { link: '../../plain/a.tf' },
    'live/loop.tf': { link: 'loop.tf' },
    'live/nowhere.tf': { link: 'missing.tf' },
    linked: { link: 'live' },
    out: { link: '/etc' },
  });
  for (const path of ['live', 'linked'])
    assert.deepEqual(fieldOf(await read(code.path, { path }), 'name'), ['shared'], path);
  for (const path of ['out', 'none', 'live/variables.tf'])
    assert.match(
      await refusal(400, code.path, { path }),
      /^\/query\/path is refused: .* is not a folder/,
      path,
    );
});

test('OpenTofu prefers its own files, terraform does not read them, and overrides are merged', async () => {
  const code = folder.repository('tofu', {
    'variables.tf': 'variable "old" {}\n',
    'variables.tofu': 'variable "new" {\n  default = "a"\n  description = "kept"\n}\n',
    'a_override.tf': 'variable "new" {\n  default = "b"\n}\n',
  });
  const names = async (type: string) => (await read(code.path, { type })).map(({ name }) => name);
  assert.deepEqual(await names('terraform'), ['old', 'new']);
  assert.deepEqual(await read(code.path), [row('new', { value: 'b', description: 'kept' })]);
});

test('code that cannot be read is refused with the file and the place', async () => {
  const code = folder.repository('broken', {
    'tf/a.tf': 'variable "x" {\n  default = [\n}\n',
    'json/a.tf.json': '{"variable": ',
    'other/a.tf': 'variable "x" {}\n',
    'other/b.tf': 'resource "y" "z" {\n',
    'deep/a.tf': `variable "x" {\n default = ${'['.repeat(5000)}\n}`,
    'large/a.tf': `variable "x" {}\n${'#'.repeat(1_000_001)}`,
  });
  for (const [path, pattern] of [
    ['tf', /a\.tf:3,1/],
    ['json', /a\.tf\.json: it is not valid JSON/],
    ['other', /b\.tf:/],
    ['deep', /a\.tf: it is nested more than 100 levels deep/],
    ['large', /large\/a\.tf has more than 1000000 bytes/],
  ] as const)
    assert.match(await refusal(422, code.path, { path }), pattern, path);
});

test('a large default keeps its digits, and never takes those of another variable', async () => {
  const code = folder.repository('numbers', {
    'main.tf': `
variable "exponent" { default = 1.5e20 }
variable "huge" {
  default = 1e30
}
resource "x" "y" { default = 7 }
variable "other" {
  description = <<E
  default = 5
  E
  default = 98765432109876543210
}
variable "negative" { default=-98765432109876543210 }
variable "fine" { default = 0.1000000000000000055511151231257827 }
variable "list" { default = [98765432109876543210, 1] }
`,
    'more.tf.json': '{"variable": {"json": {"default": 98765432109876543210}}}',
  });
  assert.deepEqual(fieldsOf(await read(code.path), 'name', 'value'), [
    ['exponent', '150000000000000000000'],
    ['huge', `1${'0'.repeat(30)}`],
    ['other', '98765432109876543210'],
    ['negative', '-98765432109876543210'],
    ['fine', '0.1000000000000000055511151231257827'],
    ['list', '[98765432109876543210,1]'],
    ['json', '98765432109876543210'],
  ]);
});

test('a file that is made to be slow to search is read in linear time', async () => {
  const half = 400_000;
  const code = folder.repository('slow', {
    'newlines/a.tf': `variable "first" {}\n${'\n'.repeat(2 * half)}locals {}\nvariable "last" {}`,
    'comments/a.tf': `locals {\n  a = <<E\n${'/*x'.repeat(half / 2)}\nE\n}\nvariable "z" {}\nvariable "a" {}`,
    'quotes/a.tf': `locals {\n  a = <<E\n"${'\\"'.repeat(half)}\nE\n}\nvariable "only" {}`,
    'names/a.tf': Array.from({ length: 2000 }, (_, at) => `variable "v${at}" {}`).join('\n'),
  });
  const names = async (path: string) => (await read(code.path, { path })).map(({ name }) => name);
  // Reading them in another way would take minutes, of which a thread does not have more than seconds.
  assert.deepEqual(await names('newlines'), ['first', 'last']);
  assert.deepEqual(await names('comments'), ['z', 'a']);
  assert.deepEqual(await names('quotes'), ['only']);
  assert.deepEqual((await names('names')).slice(9, 11), ['v9', 'v10']);
});

test('addresses, revisions and paths that runs refuse are refused here', async () => {
  const cases: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    ['', {}, /\/query\/repository is refused: repository is empty/],
    ['/etc', {}, /ENVARIUM_GIT_LOCAL_PATHS/],
    [join(folder.path, 'none'), {}, /does not exist/],
    ['http://git.example/x', {}, /ENVARIUM_GIT_HTTP_HOSTS/],
    ['https://user:word@git.example/x', {}, /contains a user or a password/],
    ['ext::sh -c id', {}, /repository contains blanks/],
    ['ext::id', {}, /transport helper/],
    ['--upload-pack=id', {}, /begins with "-"/],
    [folder.path, { revision: '--x' }, /\/query\/revision/],
    [folder.path, { path: '../x' }, /\/query\/path/],
    [folder.path, { path: '.git' }, /\/query\/path/],
    [folder.path, { sshKeyIds: 'x' }, /\/query\/sshKeyIds must be the text of a JSON array/],
    [folder.path, { sshKeyIds: '["x"]' }, /\/query\/sshKeyIds does not match/],
    [folder.path, { tokenId: 'x' }, /\/query\/tokenId does not match/],
    [folder.path, { type: 'x' }, /\/query\/type/],
    [folder.path, {}, /is not a git repository/],
  ];
  for (const [repository, query, pattern] of cases)
    assert.match(await refusal(400, repository, query), pattern, repository);
});

test('nothing of what was read is left', () => {
  const left = join(app.folder, 'repositories');
  assert.ok(existsSync(left));
  assert.deepEqual(readdirSync(left), []);
});
