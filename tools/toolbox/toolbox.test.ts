import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { goCaches } from './build.ts';
import {
  allToolNames,
  expectedToolsVariable,
  placeOf,
  pythonProgram,
  pythonPrograms,
  toolboxProgram,
  withToolbox,
} from './places.ts';

const run = promisify(execFile);
const entry = join(import.meta.dirname, 'main.ts');
const hasGo = await run('go', ['version']).then(
  () => true,
  () => false,
);

async function emptyToolbox(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolbox '));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Another toolbox, which finds in Go's caches what the tests' own one has compiled. */
function toolbox(folder: string, changes: NodeJS.ProcessEnv = {}, ...args: string[]) {
  const { [expectedToolsVariable]: _, ...environment } = process.env;
  const env = { ...environment, ...goCaches(), TOOLBOX_DIR: folder, ...changes };
  return run(process.execPath, [entry, ...args], { env });
}

/** Sets back variables of the environment at the end of a test. */
function keepVariables(t: TestContext, ...names: readonly string[]): void {
  const kept = names.map((name) => [name, process.env[name]] as const);
  t.after(() => {
    for (const [name, value] of kept)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
}

test('two builds at once build once, for everybody to execute', {
  skip: hasGo ? false : 'needs Go',
}, async (t) => {
  const folder = await emptyToolbox(t);
  const outputs = await Promise.all([1, 2].map(() => toolbox(folder, {}, 'provider-time')));
  assert.equal(outputs.filter(({ stdout }) => stdout.includes('(built in ')).length, 1);
  const program =
    /^✔ provider-time: (\/.*terraform-provider-time_v[\d.]+)/m.exec(outputs[0]?.stdout ?? '')?.[1] ?? '';
  assert.equal((await stat(program)).mode & 0o777, 0o755);
  assert.equal((await stat(dirname(program))).mode & 0o777, 0o755);
  const left = await readdir(dirname(dirname(program)));
  assert.deepEqual(
    left.filter((name) => name.includes('partial')),
    [],
  );
  assert.match(
    (await toolbox(folder, {}, '--paths', 'provider-time')).stdout,
    new RegExp(`^provider-time\\t${program}$`, 'm'),
  );
});

/** Arguments for each tool, and the part of its output that contains the version. */
const versions: readonly (readonly [tool: (typeof allToolNames)[number], args: string, answer: RegExp])[] = [
  ['opentofu', 'version', /^OpenTofu v1\.12\.6$/m],
  ['helm', 'version --short', /^v3\.21\.4$/m],
  ['kustomize', 'version', /^v5\.8\.2$/m],
  ['opa', 'version', /^Version: 1\.19\.0$/m],
  ['kube-apiserver', '--version', /^Kubernetes v1\.36\.3$/m],
  ['kube-controller-manager', '--version', /^Kubernetes v1\.36\.3$/m],
  ['terragrunt', '--version', /^terragrunt version v1\.1\.3$/m],
  ['pulumi', 'version', /^v3\.259\.0$/m],
  ['infracost', '--version', /^Infracost v0\.10\.45$/m],
  ['ansible', '--version', /^ansible-playbook \[core 2\.19\.14\]$/m],
];

for (const [name, args, answer] of versions)
  test(`${name} tells the version of its recipe`, withToolbox(name), async () => {
    assert.match((await run(placeOf(name) ?? '', args.split(' '))).stdout, answer);
  });

test('helm renders for the Kubernetes of the recipes', withToolbox('helm'), async (t) => {
  const chart = await emptyToolbox(t);
  await mkdir(join(chart, 'templates'));
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: chart\nversion: 0.1.0\n');
  await writeFile(
    join(chart, 'templates', 'version.yaml'),
    'version: {{ .Capabilities.KubeVersion.Version }}\n',
  );
  const { stdout } = await run(toolboxProgram('helm') ?? '', ['template', chart]);
  assert.match(stdout, /^version: v1\.36\./m);
});

test('all programs of a tool of PyPI are there', withToolbox('ansible'), async () => {
  for (const program of pythonPrograms.ansible)
    assert.match(
      (await run(pythonProgram('ansible', program) ?? '', ['--version'])).stdout,
      /core 2\.19\.14/,
    );
});

test('a machine without Go, and an unknown name, get an error that says what to do', async (t) => {
  const folder = await emptyToolbox(t);
  await assert.rejects(toolbox(folder, { PATH: folder }, 'provider-time'), {
    code: 1,
    stderr: /install it from https:\/\/go\.dev\/dl\//,
  });
  await assert.rejects(toolbox(folder, {}, 'hammer'), {
    code: 2,
    stderr: /no tool hammer .*opentofu, provider-time/,
  });
});

test('what is not built is a skip that says how to get it, and a failure where it is required', async (t) => {
  keepVariables(t, 'TOOLBOX_REQUIRED', 'TOOLBOX_DIR', expectedToolsVariable);
  delete process.env[expectedToolsVariable];
  process.env.TOOLBOX_DIR = join(await emptyToolbox(t), 'none');
  delete process.env.TOOLBOX_REQUIRED;
  for (const name of allToolNames) assert.equal(placeOf(name), null);
  assert.match(String(withToolbox('opentofu').skip), /install Go, then "npm run toolbox -- opentofu"/);
  assert.match(String(withToolbox('ansible').skip), /install Python, then "npm run toolbox -- ansible"/);
  process.env.TOOLBOX_REQUIRED = 'true';
  assert.throws(
    () => withToolbox('opentofu', 'provider-time'),
    /opentofu and provider-time.*not skipped where TOOLBOX_REQUIRED is set/,
  );
  assert.equal(existsSync(process.env.TOOLBOX_DIR), false);
});

test('a tool that the runner does not expect a test to need is an error', (t) => {
  keepVariables(t, expectedToolsVariable);
  process.env[expectedToolsVariable] = '["helm"]';
  assert.doesNotThrow(() => placeOf('helm'));
  for (const name of ['opa', 'moto'] as const)
    assert.throws(() => placeOf(name), new RegExp(`uses ${name}, but no file that it imports has this name`));
});
