import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helmArguments, helmArgumentsProblem } from './arguments.ts';
import { setPath, valuePath } from './value-path.ts';
import { helmVariableProblem, readHelmVariables } from './variables.ts';

test('names of values are split at dots that are not escaped', () => {
  assert.deepEqual(valuePath('image.tag'), ['image', 'tag']);
  assert.deepEqual(valuePath('annotations.example\\.org/name'), ['annotations', 'example.org/name']);
  assert.deepEqual(valuePath('a\\\\.b'), ['a\\', 'b']);
  for (const name of ['', '.a', 'a.', 'a..b', 'a\n'])
    assert.equal(valuePath(name), null, JSON.stringify(name));
});

test('keys of --set have numbers of elements', () => {
  assert.deepEqual(setPath('servers[0].ports[1][2].name'), ['servers', 0, 'ports', 1, 2, 'name']);
  assert.deepEqual(setPath('a\\.b.c'), ['a.b', 'c']);
  for (const name of ['', '[0]', 'a[', 'a[x]', 'a[0]b', 'a..b', 'a.', 'a]', 'a[-1]'])
    assert.equal(setPath(name), null, JSON.stringify(name));
});

test('arguments that break what a run promises are refused with the reason, in every spelling', () => {
  const problem = (value: string, verb = '_upgrade') =>
    helmArgumentsProblem(`ENVARIUM_HELM_CLI_ARGS${verb}`, value);
  for (const [value, expected] of [
    [
      '--namespace=other',
      /--namespace is not allowed, because the namespace is that of ENVARIUM_K8S_NAMESPACE; remove it/,
    ],
    ['-nother', /-n is not allowed/],
    ['-ojson', /-o is not allowed, because the run reads helm's output/],
    ['--set a=b', /--set is not allowed, because values come from/],
    ['--wait -f x.yaml', /-f is not allowed/],
    ['--dry-run', /because the deployment type determines it/],
    ['--post-renderer=x', /it would start a program/],
    ['--keep-history', /leaves no release/],
    ['--password=very-secret', /--password is not allowed, because others can read arguments/],
    [
      '--unheard-of=very-secret',
      /^ENVARIUM_HELM_CLI_ARGS_upgrade: --unheard-of is not allowed; remove it \(allowed are --atomic,/,
    ],
    ['word', /only options are allowed/],
    ['--timeout', /--timeout needs a value/],
    ['--wait;x', /has a ; outside of quotes/],
  ] as const) {
    assert.match(problem(value) ?? '', expected, value);
    assert.ok(!problem(value)?.includes('very-secret'));
  }
  assert.match(problem('--force', '_uninstall') ?? '', /--force is not allowed/);
  for (const value of ['', '--timeout 5m --wait=false', "--description 'two words'", '--no-hooks --qps=3'])
    assert.equal(problem(value), null, value);
  assert.equal(problem('--anything of a plugin', '_diff'), null);
});

test('words are added to the commands that understand them, each with its value', () => {
  const environment = {
    ENVARIUM_HELM_CLI_ARGS: '--no-hooks --force',
    ENVARIUM_HELM_CLI_ARGS_upgrade: '--timeout 5m --skip-crds',
    ENVARIUM_HELM_CLI_ARGS_uninstall: '--cascade=orphan',
  };
  assert.deepEqual(helmArguments(environment, 'upgrade'), [
    '--no-hooks',
    '--force',
    '--timeout=5m',
    '--skip-crds',
  ]);
  assert.deepEqual(helmArguments(environment, 'upgrade', 'rendering'), ['--skip-crds']);
  assert.deepEqual(helmArguments(environment, 'uninstall'), ['--no-hooks', '--cascade=orphan']);
});

test('variables of helm are checked by name', () => {
  assert.match(helmVariableProblem('ENVARIUM_HELM_SET_a..b', '1') ?? '', /must be the path of a value/);
  assert.equal(helmVariableProblem('ENVARIUM_HELM_SET_a[0].b', '1'), null);
  assert.match(
    helmVariableProblem('ENVARIUM_HELM_VALUES_FILES', 'a.yaml, /etc/b.yaml') ?? '',
    /must be relative/,
  );
  assert.match(
    helmVariableProblem('ENVARIUM_HELM_VALUES_FILES', '../b.yaml', '') ?? '',
    /lead out of the repository/,
  );
  assert.equal(helmVariableProblem('ENVARIUM_HELM_VALUES_FILES', '../b.yaml', 'charts'), null);
  for (const value of ['-', 'https://host.example/values.yaml'])
    assert.match(
      helmVariableProblem('ENVARIUM_HELM_VALUES_FILES', value) ?? '',
      /must be the path of a file/,
    );
  assert.equal(helmVariableProblem('OTHER', '--namespace x'), null);
  assert.deepEqual(readHelmVariables({ ENVARIUM_HELM_VALUES_FILES: 'a.yaml, b.yaml,' }).valuesFiles, [
    'a.yaml',
    'b.yaml',
  ]);
});
