/**
 * Files of repositories and output of programs on which a search that begins again at each character would take minutes
 * or hours. The tests only end in time if each text is read once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf } from '../../testing/driver-job.ts';
import { parseConstraints } from '../toolchain/constraints.ts';
import { configurationFiles } from './ansible/configuration-file.ts';
import { ansibleDiagnostics, ansibleReason } from './ansible/diagnostics.ts';
import { kubectlDiagnostics, kubectlReason } from './cluster/kubectl-output.ts';
import { helmReason } from './helm/diagnostics.ts';
import { pulumiDiagnostics } from './pulumi/diagnostics.ts';
import { terraformFiles } from './terraform/code/files.ts';
import { readableBodies } from './terraform/code/hcl.ts';
import { terraformDiagnostics } from './terraform/diagnostics.ts';
import { terraformProgress } from './terraform/progress.ts';
import { unitsWithBackend } from './terragrunt/backends.ts';
import { planCommands } from './terragrunt/commands.ts';
import { mockedUnits } from './terragrunt/deferred.ts';
import { parseTerragruntFiles } from './terragrunt/read-file.ts';
import { unplannedUnits } from './terragrunt/unplanned-units.ts';

const treeOf = (files: Readonly<Record<string, string>>) => ({
  list: async () => Object.keys(files),
  text: async (name: string) => files[name] ?? null,
});

test('a file of terragrunt that is almost only empty lines is read at once', async () => {
  for (const space of ['\n', '\r']) {
    const text = `${space.repeat(400_000)}inputs = {}\n`;
    assert.equal((await parseTerragruntFiles([{ name: 'terragrunt.hcl', text }])).length, 1);
  }
});

test('whether a file of terragrunt that does not parse has a backend is known at once', async () => {
  const units = [{ path: 'a', dependencies: [], reading: [] }];
  const isFound = async (text: string) => {
    const context = { job: jobOf(), tree: treeOf({ 'a/terragrunt.hcl': text }) };
    const found = await unitsWithBackend(
      context as unknown as Parameters<typeof unitsWithBackend>[0],
      units,
      terraformFiles,
    );
    return found.length > 0;
  };
  const broken = 'generate = [\n';
  assert.equal(await isFound(`${broken}${'\n'.repeat(1_000_000)}`), false);
  assert.equal(await isFound(`${broken}${'remote_state\n'.repeat(100_000)}backend = "local"\n`), true);
  assert.equal(
    await isFound(`${broken}${'\n'.repeat(1_000_000)}remote_state {\n  backend = "s3"\n}\n`),
    true,
  );
});

/** Recognizes the lines of a plan that are kept for reading. */
const outputLine = planCommands({
  ...{ job: jobOf({ tool: 'terragrunt' }), tree: treeOf({}) },
  ...{ configurationFolder: '/w', planFile: '/p', temporaryFolder: '/t', stateFolder: null },
}).find(({ finds }) => finds !== undefined)!.finds!.pattern;

test("lines that resemble terragrunt's about outputs are recognized at once", () => {
  const parts = ['Config ', ' is a dependency of ', 'outputs: /', '] ', ' ERROR ['];
  const lines = parts.flatMap((one) => parts.map((other) => `${one.repeat(400)}${other.repeat(400)}`));
  lines.push(`Config ${'Config '.repeat(1_170)}${' is a dependency of '.repeat(410)}`);
  lines.push(`outputs: /${' is a dependency of /'.repeat(700)}`, `x ERROR [${'] '.repeat(8_000)}`);
  for (let times = 0; times < 50; times++)
    for (const line of lines) assert.equal(outputLine.test(line), false);
  const printed = Buffer.from(lines.join('\n'));
  assert.equal(mockedUnits(printed, [], '/w').size, 0);
  const report = Buffer.from(JSON.stringify([{ Name: 'app', Result: 'failed' }]));
  assert.equal(unplannedUnits(new Map([['report.json', report]]), printed, '/w'), null);
});

test("terragrunt's own lines about outputs are recognized", () => {
  const missing =
    '* /w/live/vpc/terragrunt.hcl is a dependency of /w/live/app/terragrunt.hcl but detected no outputs. Either the target module has not been applied yet';
  const name =
    '10:00:00.000 ERROR  [web] Error: /w/live/web/terragrunt.hcl:9,30-35: Unsupported attribute; This object does not have an attribute named "url".';
  assert.ok([missing, name, `x outputs: ${missing.slice(2)}`].every((line) => outputLine.test(line)));
  const report = Buffer.from(
    JSON.stringify(['app', 'web'].map((unit) => ({ Name: unit, Result: 'failed' }))),
  );
  const lines = Buffer.from(`${missing}\n${name}\n`);
  assert.deepEqual(
    [...(unplannedUnits(new Map([['report.json', report]]), lines, '/w/live') ?? [])],
    [
      ['app', { of: ['vpc'], names: [] }],
      ['web', { of: [], names: ['url'] }],
    ],
  );
});

test('a box of errors is one error, which is found at once', () => {
  const found = terraformDiagnostics('│ Error: x\n'.repeat(29_000));
  assert.equal(found.length, 1);
  assert.equal(terraformDiagnostics('Error: x\n'.repeat(29_000)).length, 29_000);
  const inner = '╷\n│ Error: creating it\n│ \n│ Error: the service says no\n╵\n╷\n│ Error: other\n╵\n';
  assert.deepEqual(
    terraformDiagnostics(inner).map(({ text }) => text),
    ['Error: creating it\n\nError: the service says no', 'Error: other'],
  );
});

test('identifiers in lines of progress are found at once', () => {
  const reader = terraformProgress();
  const line = `a_b.c: Creation complete after 0s ${'[id='.repeat(3_900)}\n`;
  const events = Array.from({ length: 2_000 }, () => reader.read(Buffer.from(line))).flat();
  assert.ok(events.every(({ id }) => id === undefined));
  const [done] = reader.read(Buffer.from('a_b.c: Creation complete after 0s [id=a]b]\n'));
  assert.equal(done?.id, 'a]b');
});

test('long lines of ansible.cfg are read at once', async () => {
  const text = `[defaults]\nroles_path = mine ; note\na${' '.repeat(1_000_000)}b\ninventory = x${' ;'.repeat(500_000)}\r;\n`;
  const [file] = await configurationFiles(
    { job: jobOf({ tool: 'ansible' }), tree: treeOf({ 'ansible.cfg': text }) } as unknown as Parameters<
      typeof configurationFiles
    >[0],
    null,
  );
  assert.match(file?.content ?? '', /^inventory = x$/m);
  assert.match(file?.content ?? '', /^roles_path = .*:mine$/m);
});

test('errors of kubectl and helm are read at once', () => {
  const waiting = `Waiting for ${' .'.repeat(120_000)}\rx`;
  const changing = 'Object ('.repeat(30_000);
  const error = 'error: timed out waiting for the condition';
  assert.equal(typeof kubectlReason(`${waiting}\n${error}`), 'string');
  assert.match(kubectlReason(`${changing}\nerror: no`) ?? '', /^no$/);
  const rolling = 'Waiting for deployment "web" rollout to finish: 0 of 1 updated replicas are available...';
  assert.match(
    kubectlReason(`${rolling}\n${error}`) ?? '',
    /^not in time: deployment "web" rollout to finish: 0 of 1 updated replicas are available\n/,
  );
  assert.match(helmReason(`Error: ${'chart "" version "" matching '.repeat(8_000)}`) ?? '', /^Error: chart/);
  for (const text of [
    'chart "a" not found',
    'chart "a" version "9" not found',
    'chart "a" matching 9 not found',
  ])
    assert.match(helmReason(`Error: ${text} in r`) ?? '', /check helmChartName and revision/);
});

const numbered = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');

test('many errors of kubectl about many objects are explained at once', () => {
  const waiting = numbered(6_000, (index) => `Waiting for ${index} y`);
  const timeouts = numbered(3_000, (index) => `timed out waiting for the condition${index}`);
  const found = kubectlDiagnostics(waiting + timeouts);
  assert.equal(found.length, 1);
  assert.ok((found[0]?.text.length ?? 0) < 2_200);
  assert.match(
    found[0]?.text ?? '',
    /^not in time: 0 y; 1 y; .*…\n\(correct what it waits for, or allow more time/,
  );
  const objects = numbered(1_500, (index) => `Object (/v1, Kind=A: a${index}) keeps changing`);
  const conflicts = numbered(
    1_200,
    (index) => `error: Apply failed with 1 conflict: conflict with "envarium-${index}": .data.a${index}`,
  );
  const output = objects + conflicts;
  const others = kubectlDiagnostics(output);
  assert.equal(others.length, 100);
  assert.match(kubectlReason(output) ?? '', / \(and 1199 more errors\)/);
});

test('errors of Ansible and Pulumi are read at once', () => {
  assert.deepEqual(ansibleDiagnostics('ERROR! \n'.repeat(30_000)), []);
  const many = numbered(20_000, (index) => `ERROR! ${index}`);
  assert.equal(ansibleDiagnostics(many).length, 100);
  assert.equal(ansibleReason(many), '0 (and 19999 more errors)');
  const causes = '\n\n<<< caused by >>'.repeat(10_000);
  assert.equal(ansibleDiagnostics(`ERROR! one${causes}\n`).length, 1);
  assert.deepEqual(pulumiDiagnostics('error: a\n'.repeat(25_000)), [{ severity: 'error', text: 'a' }]);
});

test('roles that were not installed are named once, however often Ansible advises about them', () => {
  const roles = numbered(2_500, (index) => `[WARNING]: ${index} was NOT installed successfully`);
  const advice = numbered(2_500, (index) => `ERROR! - you can use --ignore-errors ${index}`);
  const found = ansibleDiagnostics(roles + advice);
  const errors = found.filter(({ severity }) => severity === 'error');
  assert.equal(errors.length, 100);
  assert.equal(errors[0]?.text, '0 was NOT installed successfully');
  assert.equal(ansibleReason(roles + advice), '0 was NOT installed successfully (and 2499 more errors)');
});

test('texts of a value that is not HCL are found at once', async () => {
  const [body] = await readableBodies([`"${'\\"'.repeat(500_000)}`]);
  assert.deepEqual(body, { quoted: ['\\"'.repeat(500_000)] });
  assert.deepEqual(await readableBodies(['["a" "b\\"c" }\n"d\n"e"']), [{ quoted: ['a', 'b\\"c', 'd', 'e'] }]);
});

test('constraints of versions are read at once', () => {
  const bad = [`${' '.repeat(300_000)}x`, `1-${'1'.repeat(300_000)}!`];
  for (const text of bad) assert.throws(() => parseConstraints(text), /is not a version constraint/);
});
