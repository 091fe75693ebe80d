import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compare } from 'semver';
import {
  chooseTool,
  parseRequestedVersion,
  type RequestedVersion,
  type RequiredVersion,
  type ToolChoice,
  type ToolsThere,
} from './choose-tool.ts';
import { parseConstraints, satisfies } from './constraints.ts';

const there: ToolsThere = {
  onPath: { version: '1.11.4', path: '/usr/bin/terraform' },
  cached: ['1.9.8', '1.5.7'],
  index: { versions: ['1.5.6', '1.5.7', '1.9.8', '1.11.4', '1.12.0', '1.13.0-beta1', '0.12.31'] },
  indexName: 'https://mirror.example',
};
const alone: ToolsThere = {
  ...there,
  index: { problem: 'https://mirror.example cannot be read: the connection was refused' },
};

function choose(
  wanted: string | undefined,
  at: ToolsThere = there,
  required: readonly RequiredVersion[] = [],
): ToolChoice {
  return chooseTool('terraform', parseRequestedVersion(wanted, 'terraformVersion'), at, required);
}

function version(choice: ToolChoice): string {
  return 'version' in choice ? `${choice.version} ${choice.from}` : choice.problem;
}

function note(choice: ToolChoice): string {
  return 'version' in choice ? (choice.note ?? '') : '';
}

function requires(...constraints: (string | null)[]): RequiredVersion[] {
  return constraints.map((constraint, index) => ({ file: `file${index}.tf`, constraint }));
}

test('an exact version comes from the PATH, from the cache, or is fetched, in this order', () => {
  assert.equal(version(choose('1.11.4')), '1.11.4 PATH');
  assert.equal(version(choose('v1.9.8')), '1.9.8 cache');
  assert.equal(version(choose('1.0.0')), '1.0.0 index');
  assert.equal(version(choose('1.13.0-beta1')), '1.13.0-beta1 index');
});

test('without a version, the program on the PATH is used, or the latest where there is none', () => {
  assert.equal(version(choose(undefined)), '1.11.4 PATH');
  assert.equal(version(choose('', { ...there, onPath: null })), '1.12.0 index');
});

test('latest is the newest release from any place, never a prerelease', () => {
  assert.equal(version(choose('latest')), '1.12.0 index');
  assert.equal(note(choose('latest')), '');
  assert.equal(
    version(choose('latest', { ...there, onPath: { version: '2.0.0', path: '/bin/terraform' } })),
    '2.0.0 PATH',
  );
});

test('without an index, the newest available version counts as the latest, with a note', () => {
  assert.equal(version(choose('latest', alone)), '1.11.4 PATH');
  assert.match(
    note(choose('latest', alone)),
    /The index of terraform versions is unreachable \(https:\/\/mirror\.example .*refused\): the newest/,
  );
  assert.match(
    note(choose('latest', { ...alone, index: null })),
    /The index of terraform versions is unreachable: the newest/,
  );
});

test('the lowest version that meets all constraints of the code is chosen', () => {
  assert.equal(version(choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires('~> 1.5'))), '1.5.6 index');
  assert.equal(version(choose('RESOLVE_FROM_CODE', there, requires('>= 1.5', '!= 1.5.6'))), '1.5.7 cache');
  assert.equal(version(choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires('> 1.9.8'))), '1.11.4 PATH');
  assert.match(
    note(choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires('~> 1.5'))),
    /The code requires "~> 1\.5" \(file0\.tf\)/,
  );
});

test('without an index, the lowest available version that fits is chosen, with a note', () => {
  const choice = choose('RESOLVE_FROM_TERRAFORM_CODE', alone, requires('~> 1.5'));
  assert.equal(version(choice), '1.5.7 cache');
  assert.match(
    note(choice),
    /The index .*: the lowest that fits on the agent's PATH or in its cache is used/,
  );
});

test('a constraint in a language of its own decides, and is called what the code calls it', () => {
  const range = (meets: (version: string) => boolean): RequiredVersion[] => [
    { file: 'Pulumi.yaml', constraint: '<1.6.0 || >1.12.0', attribute: 'requiredPulumiVersion', meets },
  ];
  const choice = choose('RESOLVE_FROM_CODE', there, [
    ...range((one) => compare(one, '1.6.0') < 0 || compare(one, '1.12.0') > 0),
    ...requires('> 1.0'),
  ]);
  assert.equal(version(choice), '1.5.6 index');
  assert.match(
    version(
      choose(
        'RESOLVE_FROM_CODE',
        there,
        range(() => false),
      ),
    ),
    /"<1\.6\.0 \|\| >1\.12\.0" \(Pulumi\.yaml\).* Change requiredPulumiVersion, or specify the version$/,
  );
  const wrong = range(() => {
    throw new Error('"^1" is not a condition');
  });
  assert.equal(
    version(choose('RESOLVE_FROM_CODE', there, wrong)),
    'requiredPulumiVersion in Pulumi.yaml: "^1" is not a condition',
  );
});

test('code without a constant requirement gets the latest version', () => {
  assert.equal(version(choose('RESOLVE_FROM_TERRAFORM_CODE')), '1.12.0 index');
  const choice = choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires(null));
  assert.equal(version(choice), '1.12.0 index');
  assert.match(note(choice), /required_version of file0\.tf is not a constant/);
});

test('a prerelease is chosen for the code only when named exactly', () => {
  assert.equal(
    version(choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires('= 1.13.0-beta1'))),
    '1.13.0-beta1 index',
  );
  assert.match(
    version(choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires('>= 1.13.0-beta1'))),
    /^No terraform meets/,
  );
});

test('a file may request the newest version that the code accepts, or the newest of a release line', () => {
  const ask = (wanted: RequestedVersion, at = there, required = requires('~> 1.5')) =>
    version(chooseTool('terraform', wanted, at, required));
  assert.equal(ask({ kind: 'code', by: 'a file', takes: 'newest' }), '1.12.0 index');
  assert.equal(
    ask({ kind: 'code', by: 'a file', takes: 'newest' }, there, requires('~> 1.5, < 1.10')),
    '1.9.8 cache',
  );
  assert.equal(ask({ kind: 'latest', by: 'a file', like: /^1.5/ }), '1.5.7 cache');
  assert.equal(ask({ kind: 'latest', by: 'a file', like: /^1.1[0-9]/ }), '1.12.0 index');
  assert.match(
    ask({ kind: 'latest', by: 'a file', like: /^1.13/ }),
    /^No release of terraform matches "\^1\.13", which a file requests: this agent has 1\.11\.4/,
  );
  assert.match(
    note(chooseTool('terraform', { kind: 'latest', by: 'a file', like: /^1.5/ }, alone)),
    /the newest that fits on the agent's/,
  );
});

test('an unmet constraint is reported with its file and the available versions', () => {
  const message = version(choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires('>= 1.5', '< 1.0, > 0.13')));
  for (const part of [
    '">= 1.5" (file0.tf)',
    '"< 1.0, > 0.13" (file1.tf)',
    '1.11.4 (/usr/bin/terraform)',
    '1.5.7, 1.9.8 (tool cache)',
  ])
    assert.ok(message.includes(part), message);
  assert.match(message, /https:\/\/mirror\.example lists 7 versions from 0\.12\.31 to 1\.13\.0-beta1/);
  assert.match(
    version(choose('RESOLVE_FROM_TERRAFORM_CODE', alone, requires('> 7'))),
    /no index is reachable: .*refused/,
  );
  assert.match(
    version(choose('RESOLVE_FROM_TERRAFORM_CODE', there, requires('>= banana'))),
    /required_version in file0\.tf: ">= banana"/,
  );
});

test('a version that cannot be obtained is reported with what to do', () => {
  const nothing: ToolsThere = { onPath: null, cached: [], index: null, indexName: '' };
  assert.match(
    version(choose(undefined, nothing)),
    /not on the agent's PATH.*nothing is fetched here: install terraform .*ENVARIUM_TOOL_MIRROR_TERRAFORM/,
  );
  assert.match(
    version(choose('1.0.0', { ...there, index: null })),
    /terraform 1\.0\.0 is requested by terraformVersion, but this agent has 1\.11\.4/,
  );
  assert.match(
    version(choose('latest', { ...nothing, onPath: { version: '2.0.0-alpha', path: '/x' } })),
    /2\.0\.0-alpha on the agent's PATH is not a release/,
  );
});

test('an invalid version is refused, naming the field or variable', () => {
  for (const wrong of ['1.x', '~> 1.2', '../../etc', 'newest'])
    assert.throws(
      () => parseRequestedVersion(wrong, 'ENVARIUM_TF_VERSION'),
      /^Error: ENVARIUM_TF_VERSION is ".*", which is not a version/,
    );
});

test('the code gets the lowest version that matches, whatever is available', () => {
  const number = fc.nat({ max: 4 });
  const release = fc.tuple(number, number, number).map((parts) => parts.join('.'));
  const constraint = fc
    .tuple(fc.constantFrom('=', '!=', '>', '>=', '<', '<=', '~>'), release)
    .map((parts) => parts.join(' '));
  fc.assert(
    fc.property(
      fc.array(release),
      fc.array(release),
      fc.option(release),
      fc.array(constraint, { minLength: 1 }),
      (cached, listed, onPath, all) => {
        const at = {
          onPath: onPath === null ? null : { version: onPath, path: '/p' },
          cached,
          index: { versions: listed },
          indexName: '',
        };
        const fitting = [...cached, ...listed, ...(onPath === null ? [] : [onPath])].filter((each) =>
          satisfies(each, parseConstraints(all.join(','))),
        );
        const choice = choose('RESOLVE_FROM_TERRAFORM_CODE', at, requires(...all));
        assert.equal('version' in choice ? choice.version : undefined, fitting.toSorted(compare)[0]);
      },
    ),
  );
});
