import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { parseDiscoveryFile } from './parse-discovery-file.ts';
import { readDiscoveryFile } from './read-discovery-file.ts';

const complete = `
# Other keys are ignored.
defaults: &defaults
  projectName: Live | EU
  continuousDeployment: true
environments:
  network:
    <<: *defaults
    name: network
    templateName: VPC
    workspaceName: live-network
    revision: main
    variableFiles:
      - path: /common.tfvars
      - path: ./live/network.tfvars.json
    requiresApproval: false
    isRemoteBackend: true
    autoDeployOnPathChangesOnly: true
    autoDeployByCustomGlob: "+(\${envarium_template_dir_path}/**|common/**)"
    pullRequestPlanDeployments: true
    vcsPrCommentsEnabled: false
    vcsCommandsAlias: network
    driftDetectionCron: 0 4 * * *
  database:
    { <<: *defaults, continuousDeployment: false, name: "1.0", templateId: t-1, variableFiles: [] }
  direct:
    name: direct
    templateId: t-2
    projectId: p-1
other: [1, 2]
`;

test('environments are read with all their fields, anchors and merge keys', async () => {
  const shared = { projectNames: ['Live', 'EU'], continuousDeployment: true };
  assert.deepEqual(await parseDiscoveryFile(complete), {
    environments: [
      {
        key: 'network',
        line: 7,
        ...shared,
        name: 'network',
        templateName: 'VPC',
        workspaceName: 'live-network',
        revision: 'main',
        variableFiles: ['common.tfvars', 'live/network.tfvars.json'],
        requiresApproval: false,
        isRemoteBackend: true,
        autoDeployOnPathChangesOnly: true,
        autoDeployByCustomGlob: '+(${envarium_template_dir_path}/**|common/**)',
        pullRequestPlanDeployments: true,
        vcsPrCommentsEnabled: false,
        vcsCommandsAlias: 'network',
        driftDetectionCron: '0 4 * * *',
      },
      {
        key: 'database',
        line: 24,
        ...shared,
        continuousDeployment: false,
        name: '1.0',
        templateId: 't-1',
        variableFiles: [],
      },
      { key: 'direct', line: 26, name: 'direct', templateId: 't-2', projectId: 'p-1' },
    ],
    errors: [],
    keys: ['network', 'database', 'direct'],
  });
});

/** A file with a valid environment on line 2, and another one on line 3 with these lines. */
function fileWith(...lines: readonly string[]): string {
  const base = { name: 'a', templateName: 'a', projectName: 'a' };
  const set = new Set(lines.map((line) => line.split(':')[0]));
  const fields = Object.entries(base).filter(([name]) => !set.has(name) && !set.has(`-${name}`));
  return [
    'environments:',
    '  good: { name: good, templateId: t, projectId: p }',
    '  bad:',
    ...lines.filter((line) => !line.startsWith('-')).map((line) => `    ${line}`),
    ...fields.map(([name, value]) => `    ${name}: ${value}`),
    '    requiresApproval: true',
  ].join('\n');
}

for (const [lines, line, message] of [
  [['namee: x'], 4, /^bad: namee is not a field of an environment: use one of name, templateId/],
  [['-name: '], 3, /^bad: name is required$/],
  [['name: "  "'], 4, /^bad: name must not be blank$/],
  [['name: 1.0'], 4, /^bad: name must be text: write it in quotes$/],
  [['name: [a]'], 4, /^bad: name must be text$/],
  [['name:'], 4, /^bad: name must be text$/],
  [['name: "a\\nb"'], 4, /^bad: name must not contain line breaks or other control characters$/],
  [[`name: ${'x'.repeat(256)}`], 4, /^bad: name must not have more than 255 characters$/],
  [['-templateName: '], 3, /^bad: templateId or templateName is required$/],
  [['templateName: a', 'templateId: b'], 3, /^bad: templateId and templateName exclude each other/],
  [['-projectName: '], 3, /^bad: projectId or projectName is required$/],
  [['projectName: a', 'projectId: b'], 3, /^bad: projectId and projectName exclude each other/],
  [['projectName: a||b'], 4, /^bad: projectName has an empty part/],
  [['workspaceName: a/b'], 4, /^bad: workspaceName must have at most 90 letters/],
  [['workspaceName: ../a'], 4, /^bad: workspaceName must have/],
  [['revision: --upload-pack=x'], 4, /^bad: revision .*: specify a branch, a tag or a commit$/],
  [['variableFiles: a.tfvars'], 4, /^bad: variableFiles must be a list of files$/],
  [['variableFiles: [a.tfvars]'], 4, /^bad: each entry of variableFiles must be a path/],
  [['variableFiles: [{ path: a.tfvars, name: b }]'], 4, /^bad: each entry of variableFiles must be a path/],
  [['variableFiles: [{ path: ../a.tfvars }]'], 4, /^bad: path .*: specify a file of the repository$/],
  [['variableFiles: [{ path: a.tf }]'], 4, /^bad: path a\.tf in variableFiles must end with \.tfvars/],
  [[`variableFiles: [${'{ path: a.tfvars },'.repeat(21)}]`], 4, /must not have more than 20 files$/],
  [['continuousDeployment: "true"'], 4, /^bad: continuousDeployment must be true or false$/],
  [['continuousDeployment: yes'], 4, /^bad: continuousDeployment must be true or false$/],
  [['autoDeployByCustomGlob: "+(a | b)"'], 4, /^bad: autoDeployByCustomGlob must not contain blanks/],
  [['autoDeployByCustomGlob: "+(a"'], 4, /^bad: autoDeployByCustomGlob is not a valid glob/],
  [['autoDeployByCustomGlob: ../x'], 4, /^bad: autoDeployByCustomGlob must not contain "\.\."/],
  [['driftDetectionCron: 0 4 * *'], 4, /^bad: driftDetectionCron is not a valid cron expression/],
  [['driftDetectionCron: 0 0 30 2 *'], 4, /^bad: driftDetectionCron never comes$/],
  [['isRemoteBackend: true', 'isRemoteBackend: false'], 5, /^bad: a key is there twice: keep one of them$/],
  [['__proto__: { a: b }'], 4, /^bad: __proto__ is not a field of an environment/],
] as const)
  test(`a wrong field is an error of its environment only: ${lines.join(', ').slice(0, 60)}`, () => {
    const found = readDiscoveryFile(fileWith(...lines));
    assert.deepEqual(
      found.environments.map(({ key }) => key),
      ['good'],
    );
    assert.deepEqual(found.keys, ['good', 'bad']);
    const [error, ...others] = found.errors;
    assert.deepEqual([error?.key, error?.line, others], ['bad', line, []]);
    assert.match(error?.message ?? '', message);
  });

test('each wrong field has an error of its own, in the order of the lines', () => {
  const { errors } = readDiscoveryFile(fileWith('name: 1', 'isRemoteBackend: 2', 'unknown: 3'));
  assert.deepEqual(
    errors.map(({ line }) => line),
    [4, 5, 6],
  );
});

for (const [name, text, line, message] of [
  ['an empty file', '', 1, /^the file must have the key environments/],
  ['another key', 'environment:\n  a: {}', 1, /^the file must have the key environments/],
  ['a list', '- environments', 1, /^the file must have the key environments/],
  ['no value', 'other: 1\nenvironments:\n', 2, /^environments must have keys.*write \{\} for none$/],
  ['no value in braces', '{ environments }', 1, /^environments must have keys/],
  ['environments as a list', 'environments:\n  - name: a', 2, /^environments must have keys/],
  ['environments twice', 'environments: {}\nenvironments: {}', 2, /^environments is there twice/],
  ['text that is not YAML', 'environments:\n  a: [1,\n  b', 3, /./],
  ['two documents', 'environments: {}\n---\nenvironments: {}', 2, /multiple documents/],
  ['an alias without an anchor', 'environments:\n  a: &x {}\n  b: *y\n', 3, /Unresolved alias.*y/],
  ['an alias in front of its anchor', 'environments:\n  b: *y\n  a: &y {}\n', 2, /Unresolved alias.*y/],
  ['10,000 brackets', `environments: ${'['.repeat(10_000)}`, 1, /./],
  ['too many environments', `environments:\n${manyEnvironments(5001)}`, 2, /more than 5000 environments/],
] as const)
  test(`a file that cannot be read says why, and removes nothing: ${name}`, async () => {
    const { environments, errors, keys } = await parseDiscoveryFile(text);
    assert.deepEqual([environments, keys], [[], null]);
    assert.equal(errors[0]?.line, line);
    assert.match(errors[0].message, message);
  });

function manyEnvironments(count: number): string {
  return Array.from({ length: count }, (_, index) => `  e${index}: {}\n`).join('');
}

test('a file without environments has none', async () => {
  const empty = { environments: [], errors: [], keys: [] };
  assert.deepEqual(await parseDiscoveryFile('environments: {}'), empty);
  assert.deepEqual(await parseDiscoveryFile('\uFEFFenvironments: {} # none yet\n'), empty);
});

test('an environment that is there twice is left out, and so is the second of two with one name', () => {
  const twice = readDiscoveryFile(
    'environments:\n  a: { name: a, templateId: t, projectId: p }\n  a: { name: b, templateId: t, projectId: p }\n',
  );
  assert.deepEqual([twice.environments, twice.keys], [[], ['a']]);
  assert.deepEqual(twice.errors, [
    { key: 'a', line: 3, message: 'a: a key is there twice: keep one of them' },
  ]);
  const same = readDiscoveryFile(
    'environments:\n  a: { name: Net, templateId: t, projectId: p }\n  b: { name: net, templateId: u, projectId: p }\n  c: { name: net, templateId: t, projectId: q }\n',
  );
  assert.deepEqual(
    same.environments.map(({ key }) => key),
    ['a', 'c'],
  );
  assert.deepEqual(same.errors, [
    { key: 'b', line: 3, message: 'b: its name net is already that of a in the same project' },
  ]);
});

test('environments may be merged as a whole', () => {
  const { environments, errors } = readDiscoveryFile(`
all: &all
  a: { name: a, templateId: t, projectId: p }
environments:
  <<: *all
  b: { name: b, templateId: t, projectId: p }
`);
  assert.deepEqual(errors, []);
  assert.deepEqual(environments.map(({ key }) => key).toSorted(), ['a', 'b']);
});

test('anchors that stand for a billion values end with an error', async () => {
  const levels = Array.from(
    { length: 12 },
    (_, index) => `a${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`).join()}]`,
  );
  const lists = [
    'a0: &a0 [x]',
    ...levels,
    'environments:',
    '  a: { name: a, templateId: t, projectId: p, variableFiles: *a12 }',
  ];
  const { errors, keys } = await parseDiscoveryFile(lists.join('\n'));
  assert.equal(keys, null);
  assert.match(errors[0]?.message ?? '', /Excessive alias count/);
  const merges = Array.from(
    { length: 40 },
    (_, index) => `b${index + 1}: &b${index + 1} { <<: [*b${index}, *b${index}] }`,
  );
  const maps = ['b0: &b0 { name: b }', ...merges, 'environments:', '  a: *b40'];
  const merged = await parseDiscoveryFile(maps.join('\n'));
  assert.equal(merged.keys, null);
  assert.match(merged.errors[0]?.message ?? '', /Excessive alias count/);
});

test('bombs in keys that are ignored do no harm', () => {
  const merges = Array.from(
    { length: 40 },
    (_, index) => `b${index + 1}: &b${index + 1} { <<: [*b${index}, *b${index}] }`,
  );
  const text = [
    'b0: &b0 { name: b }',
    ...merges,
    'environments:',
    '  a: { name: a, templateId: t, projectId: p }',
  ];
  assert.equal(readDiscoveryFile(text.join('\n')).environments.length, 1);
});

test('a thousand environments with one anchor are read', async () => {
  const text = [
    'defaults: &defaults { templateName: t, projectName: a|b }',
    'environments:',
    ...Array.from({ length: 1000 }, (_, index) => `  e${index}: { <<: *defaults, name: e${index} }`),
  ].join('\n');
  const { environments, errors } = await parseDiscoveryFile(text);
  assert.deepEqual([environments.length, errors], [1000, []]);
  assert.equal(environments[999]?.line, 1002);
});

test('a file of more than a megabyte is refused', async () => {
  const { errors } = await parseDiscoveryFile(`environments: {}\n#${'é'.repeat(500_000)}`);
  assert.deepEqual(errors, [{ line: 1, message: 'envarium-discovery.yml has more than 1000 kB' }]);
});

const title = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => text.trim() !== '' && !/\p{Cc}/u.test(text));

test('whatever is written as YAML is read again', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        title,
        fc.record({ templateName: title, projectId: title, requiresApproval: fc.boolean() }),
        { maxKeys: 5, noNullPrototype: true },
      ),
      (fields) => {
        const all = Object.fromEntries(
          Object.entries(fields).map(([key, each]) => [key, { name: key, ...each }]),
        );
        const { environments, errors } = readDiscoveryFile(stringify({ environments: all }));
        if (errors.length > 0) {
          assert.ok(errors.every(({ message }) => message.includes('is already that of')));
          return;
        }
        assert.deepEqual(
          environments.map(({ line: _, key, ...each }) => [key, each]).toSorted(),
          Object.entries(all).toSorted(),
        );
      },
    ),
  );
});

test('any text is read without an exception', () => {
  const piece = fc.constantFrom(
    ...[
      'environments:',
      '\n',
      '  ',
      ' a: ',
      ' name: x',
      '<<: ',
      '*a',
      '&a ',
      '{',
      '}',
      '[',
      ']',
      '- ',
      '"',
      '|',
      '? ',
      '!!binary ',
      '#',
      '\t',
      ',',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const { environments, errors, keys } = readDiscoveryFile(`environments:\n${pieces.join('')}`);
      assert.ok(keys !== null || (environments.length === 0 && errors.length > 0));
      for (const { line } of errors) assert.ok(line >= 1);
    }),
    { numRuns: 1000 },
  );
});
