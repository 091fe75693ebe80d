import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { gitFolder } from '../../../../testing/git-repository.ts';
import { type MatchedTree, type MatchRule, matchTree } from './match-tree.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());

const id = '0123456789abcdef0123456789abcdef01234567';

function entry(path: string, mode = '100644', type = 'blob'): string {
  return `${mode} ${type} ${id}\t${path}\0`;
}

function listed(...paths: string[]): Buffer {
  return Buffer.from(paths.map((path) => entry(path)).join(''));
}

const rule: MatchRule = { globPattern: '**/main.tf', rootPath: '', type: 'opentofu', known: [] };

function match(
  listing: Uint8Array,
  changes: Partial<MatchRule> = {},
  signal = new AbortController().signal,
): Promise<MatchedTree> {
  return matchTree([listing], { ...rule, ...changes }, signal);
}

function foldersOf({ folders }: MatchedTree): string[] {
  return folders.map((each) => each.folder);
}

function reasonsOf({ passedOver }: MatchedTree): Record<string, string> {
  return Object.fromEntries(passedOver.map(({ folder: each, reason }) => [each, reason]));
}

test('folders of a commit are found with the ids of their files and trees', async () => {
  const repository = folder.repository('ids', {
    'main.tf': '',
    'prod/db/main.tf': 'a',
    'prod/db/other/readme.md': '',
    'dev/db/main.tf': 'b',
  });
  const git = (...args: string[]) => execFileSync('git', ['-C', repository.path, ...args]);
  const found = await match(git('ls-tree', '-r', '-t', '-z', 'HEAD'));
  const idOf = (path: string) => git('rev-parse', `HEAD:${path}`).toString().trim();
  assert.deepEqual(found, {
    files: 4,
    folders: [
      { folder: '', file: 'main.tf', fileId: idOf('main.tf'), treeId: '', otherFiles: [] },
      ...['dev/db', 'prod/db'].map((path) => ({
        folder: path,
        file: `${path}/main.tf`,
        fileId: idOf(`${path}/main.tf`),
        treeId: idOf(path),
        otherFiles: [],
      })),
    ],
    passedOver: [],
    passedOverCount: 0,
    gone: [],
  });
});

test('links, submodules and names that cannot be used are passed over with their reason', async () => {
  const repository = folder.repository('unusual', {
    'real/main.tf': '',
    'linked/main.tf': { link: '../../../etc/passwd' },
    'folder-link': { link: 'real' },
    'docs.md': { link: 'real/main.tf' },
    'line\nbreak/main.tf': '',
  });
  const git = (...args: string[]) => execFileSync('git', ['-C', repository.path, ...args]);
  const bytes = Buffer.from([0x62, 0xe9]);
  const invalid = Buffer.concat([Buffer.from(`${repository.path}/`), bytes]);
  mkdirSync(invalid);
  writeFileSync(Buffer.concat([invalid, Buffer.from('/main.tf')]), '');
  git('add', '.');
  git('update-index', '--add', '--cacheinfo', `160000,${id},modules/net`);
  const tree = git('write-tree').toString().trim();
  const found = await match(git('ls-tree', '-r', '-t', '-z', tree));
  assert.deepEqual(foldersOf(found), ['real']);
  assert.deepEqual(
    found.passedOver.map(({ file, reason }) => [file, reason]),
    [
      ['folder-link', 'folder-link is a symbolic link, which discovery does not follow'],
      ['b\\xe9/main.tf', 'b\\xe9/main.tf is not considered: its path is not valid UTF-8'],
      [
        'line\\nbreak/main.tf',
        'line\\nbreak/main.tf is not considered: its path contains line breaks or other control characters',
      ],
      ['linked/main.tf', 'linked/main.tf is a symbolic link, which discovery does not follow'],
      ['modules/net', 'modules/net is a submodule, whose files are in another repository'],
    ],
  );
});

test('two matching files of a folder are one folder', async () => {
  const files = Array.from({ length: 9 }, (_, index) => `a/${index}.tf`);
  const { folders } = await match(listed(...files), { globPattern: '**/*.tf' });
  assert.deepEqual(
    folders.map(({ file, otherFiles }) => [file, otherFiles]),
    [['a/0.tf', ['a/1.tf', 'a/2.tf', 'a/3.tf', 'a/4.tf', 'a/5.tf']]],
  );
});

test('folders with copies of other code never match', async () => {
  const hidden = ['.terraform', '.terragrunt-cache'].flatMap((name) => [
    `a/${name}/b/terragrunt.hcl`,
    `${name}/terragrunt.hcl`,
  ]);
  const found = await match(listed(...hidden, 'a/terragrunt.hcl', 'a/.terraformed/terragrunt.hcl'), {
    globPattern: '+(**/|)+(.*/|)+(**/|)terragrunt.hcl',
    type: 'terragrunt',
  });
  assert.deepEqual(foldersOf(found), ['a', 'a/.terraformed']);
  assert.equal(found.passedOverCount, 4);
  assert.match(found.passedOver[0]?.reason ?? '', /\.terraform, which contains copies of other code$/);
});

for (const [type, code, other] of [
  ['opentofu', ['a.tf', 'b.tofu', 'c.tf.json'], ['d.hcl', 'terragrunt.hcl', 'tf']],
  ['terraform', ['a.tf'], ['b.tofu']],
  ['terragrunt', ['terragrunt.hcl'], ['root.hcl', 'a.tf', 'xterragrunt.hcl']],
  ['workflow', ['envarium.workflow.yml', 'envarium.workflow.yaml'], ['envarium.yml', 'a.tf']],
] as const)
  test(`folders with code that the glob does not match are listed for the type ${type}`, async () => {
    const paths = [...code, ...other].map((name) => `at-${name}/${name}`);
    const found = await match(listed(...paths), { type, globPattern: 'prod/**' });
    assert.deepEqual(
      found.passedOver.map(({ file }) => file),
      code.map((name) => `at-${name}/${name}`).toSorted(),
    );
  });

test('files outside of rootPath do not match, also in a folder whose name begins in the same way', async () => {
  const found = await match(listed('src/prod/main.tf', 'src/prod/a/main.tf', 'src/production/main.tf'), {
    rootPath: 'src/prod',
  });
  assert.deepEqual(foldersOf(found), ['src/prod', 'src/prod/a']);
  assert.deepEqual(reasonsOf(found), {
    'src/production': 'src/production/main.tf is outside of rootPath src/prod',
  });
});

for (const [name, globPattern, reasons] of [
  [
    'a negation',
    '!(modules)/**/main.tf',
    { 'modules/net': '"!(modules)" in globPattern excludes modules/net/main.tf' },
  ],
  [
    'one alternative of a negation',
    '!(test|modules|docs)/**/main.tf',
    { 'modules/net': '"modules" in "!(test|modules|docs)" of globPattern excludes modules/net/main.tf' },
  ],
  [
    'a negation with folders, in front of what matches',
    '!(modules/**)+(**/main.tf)',
    { 'modules/net': '"!(modules/**)" in globPattern excludes modules/net/main.tf' },
  ],
  [
    'several alternatives together',
    '!(mod*|*ules)/**/main.tf',
    { 'modules/net': '"!(mod*|*ules)" in globPattern excludes modules/net/main.tf' },
  ],
  [
    'several negations together',
    '!(modules)/!(net)/main.tf',
    { 'modules/net': '"!(modules)" and "!(net)" in globPattern exclude modules/net/main.tf' },
  ],
  [
    'a negation of the whole',
    '!modules/**',
    {
      'modules/net':
        'globPattern begins with "!" and therefore excludes all files that the rest of it matches, including modules/net/main.tf',
    },
  ],
  [
    'no alternative',
    '+(prod/**|dev/**)',
    { 'modules/net': 'no alternative of globPattern matches modules/net/main.tf' },
  ],
] as const)
  test(`the part of the glob that excludes a folder is named: ${name}`, async () => {
    const found = await match(listed('modules/net/a.tf', 'modules/net/main.tf', 'prod/main.tf'), {
      globPattern,
    });
    const { 'modules/net': reason } = reasonsOf(found);
    const expected = reasons['modules/net'];
    assert.equal(reason?.replace('a.tf', 'main.tf'), expected);
  });

test('wildcards do not match names that begin with a dot, and the reason says so', async () => {
  const found = await match(listed('.github/main.tf', 'a/main.tf'));
  assert.deepEqual(foldersOf(found), ['a']);
  assert.match(reasonsOf(found)['.github'] ?? '', /begins with a dot.*write the dot$/);
});

test('known folders are gone only if their file is, and nothing else matches in them', async () => {
  const known = ['kept', 'gone', 'renamed', 'excluded', 'linked'].map((name) => ({
    folder: name,
    file: `${name}/main.tf`,
  }));
  const listing = Buffer.concat([
    listed('kept/main.tf', 'renamed/new.tf', 'excluded/main.tf'),
    Buffer.from(entry('linked/main.tf', '120000')),
  ]);
  const found = await match(listing, { known, globPattern: '!(excluded)/*.tf' });
  assert.deepEqual(found.gone, ['gone']);
  assert.deepEqual(foldersOf(found), ['kept', 'renamed']);
});

test('at most 1,000 folders are passed over by name, and all are counted', async () => {
  const paths = Array.from({ length: 1500 }, (_, index) => `f${String(9999 - index)}/main.tf`);
  const found = await match(listed(...paths), { globPattern: 'nothing' });
  assert.equal(found.passedOver.length, 1000);
  assert.equal(found.passedOverCount, 1500);
  assert.deepEqual([found.passedOver[0]?.folder, found.passedOver[999]?.folder], ['f8500', 'f9499']);
});

test('a glob that would run forever ends with a sentence', async () => {
  const hostile = listed(`${'a'.repeat(200)}/!`);
  await assert.rejects(
    match(hostile, { globPattern: '+(+(+(a)))/x' }),
    /^Error: globPattern takes longer than 10 s to evaluate: use fewer alternatives/,
  );
});

test('a glob that matches everything in too many folders is refused with what to do', async () => {
  const paths = Array.from({ length: 10_001 }, (_, index) => `${index}/a`);
  await assert.rejects(match(listed(...paths), { globPattern: '**' }), /more than 10000 folders: narrow it/);
  const found = await match(listed(...paths.slice(1)), { globPattern: '**' });
  assert.equal(found.folders.length, 10_000);
});

test('an empty tree has nothing, and a listing that is cut off is refused', async () => {
  assert.deepEqual(await match(Buffer.alloc(0)), {
    files: 0,
    folders: [],
    passedOver: [],
    passedOverCount: 0,
    gone: [],
  });
  for (const text of [entry('a/main.tf').slice(0, -1), 'fatal: not a tree', '\0', `100644 blob x\ta\0`])
    await assert.rejects(match(Buffer.from(text)), /git printed a listing that cannot be read/);
});

test('matching ends with the reason of its signal', async () => {
  await assert.rejects(match(listed('a/main.tf'), {}, AbortSignal.abort(new Error('early'))), /early/);
  const hostile = listed(`${'a'.repeat(200)}/!`);
  const aborting = new AbortController();
  const matching = match(hostile, { globPattern: '+(+(+(a)))/x' }, aborting.signal);
  setTimeout(() => aborting.abort(new Error('aborted')), 300);
  const startedAt = performance.now();
  await assert.rejects(matching, /aborted/);
  assert.ok(performance.now() - startedAt < 8000);
});

test('a part of a larger buffer is matched, and the rest stays usable', async () => {
  const whole = Buffer.concat([Buffer.from('before'), listed('a/main.tf')]);
  const found = await match(whole.subarray(6));
  assert.deepEqual(foldersOf(found), ['a']);
  assert.equal(whole.toString('utf8', 0, 6), 'before');
});
