import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { ResourceToImport } from '#protocol/messages/job.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import { createSetup, type Ran, type RunnerSetup, withTerraform } from '../../../testing/runner-setup.ts';
import { drivers } from '../../drivers/index.ts';
import { findProgram } from '../../processes/programs.ts';

const code = `module "net" {
  source   = "./net"
  for_each = toset(["a.b", "q\\"x"])
}
resource "terraform_data" "counted" {
  count = 2
}
`;
const files = {
  'main.tf': code,
  'net/main.tf': 'resource "terraform_data" "it" {\n  for_each = toset(["x y"])\n}\n',
};
const wanted: readonly ResourceToImport[] = [
  { address: 'module.net["a.b"].terraform_data.it["x y"]', id: 'id-${1}-"q"-%{2}' },
  { address: 'module.net["q\\"x"].terraform_data.it["x y"]', id: 'second' },
  { address: 'terraform_data.counted[1]', id: 'third' },
];

interface Instance {
  readonly index_key?: unknown;
  readonly attributes: { readonly id: string };
}

function idsIn(state: Buffer | null): string[] {
  const { resources } = JSON.parse(state?.toString() ?? '{}') as {
    resources: { instances: Instance[] }[];
  };
  return resources.flatMap(({ instances }) => instances.map(({ attributes }) => attributes.id)).sort();
}

/** A state that has the second resource, at another address. */
function stateWith(id: string): Buffer {
  const resource = {
    mode: 'managed',
    type: 'terraform_data',
    name: 'counted',
    provider: 'provider["terraform.io/builtin/terraform"]',
    instances: [
      {
        index_key: 0,
        schema_version: 0,
        attributes: { id, input: null, output: null, triggers_replace: null },
      },
    ],
  };
  return Buffer.from(
    JSON.stringify({ version: 4, serial: 4, lineage: 'l', outputs: {}, resources: [resource] }),
  );
}

const tools = [
  { tool: 'terraform', step: 'tf:plan', needs: withTerraform, toolPaths: undefined },
  {
    tool: 'opentofu',
    step: 'opentofu:plan',
    needs: withToolbox('opentofu'),
    toolPaths: { tofu: toolboxProgram('opentofu') ?? '', git: findProgram('git') ?? '' },
  },
] as const;

for (const { tool, step, needs, toolPaths } of tools) {
  const options = toolPaths === undefined ? {} : { toolPaths };
  const plan = (setup: RunnerSetup, imports: readonly ResourceToImport[], state?: Buffer): Promise<Ran> =>
    setup.run(setup.job({ tool, imports: [...imports] }), { ...options, ...(state ? { state } : {}) });

  test(
    `resources in modules, with counts and keys are imported by the apply of ${tool}, elsewhere, too`,
    needs,
    async (t) => {
      const setup = createSetup(t, files);
      for (const onOtherMachine of tool === 'terraform' ? [false, true] : [true]) {
        const planned = await expectResult('planned', plan(setup, wanted));
        assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0, imported: 3 });
        const imported = planned.outcome.plan?.resourceChanges.filter(({ importing }) => importing);
        assert.deepEqual(
          new Set(imported?.map(({ path, importing }) => [path, importing?.id].join())),
          new Set(wanted.map(({ address, id }) => [address, id].join())),
        );
        const log = stripVTControlCharacters(planned.log(step));
        assert.match(log, /^Importing terraform_data\.counted\[1\] with ID "third", which an earlier run/m);
        assert.match(log, /Plan: 3 to import, 1 to add/);
        const applied = await expectResult(
          'applied',
          setup.run(setup.applyJob(planned, { onOtherMachine }), options),
        );
        const ids = idsIn(setup.newestState(applied));
        for (const { id } of wanted) assert.ok(ids.includes(id), `${id} is in ${ids.join()}`);
        assert.equal(ids.length, 4);
      }
    },
  );

  test(
    `${tool} imports nothing that its state has, and nothing whose address could be evaluated`,
    needs,
    async (t) => {
      const setup = createSetup(t, files);
      const secret = join(setup.folder, 'spool', 'secret');
      const hostile = [
        `terraform_data.counted[file("${secret}")]`,
        `module.net["\${file("${secret}")}"].terraform_data.it["x y"]`,
        'terraform_data.counted[1]"}], "provider": {"external": {}}, "x": [{"y": "',
        'data.terraform_data.it',
      ].map((address) => ({ address, id: 'x' }));
      const ran = await expectResult('planned', plan(setup, [...wanted, ...hostile], stateWith('second')));
      assert.equal(ran.outcome.planSummary?.imported, 2);
      const log = stripVTControlCharacters(ran.log(step));
      assert.match(log, /^Not importing .* with ID "second": the state already has a resource with this ID/m);
      assert.equal(log.match(/: its address cannot be used in an import block/g)?.length, hostile.length);
    },
  );

  test(`a version of ${tool} without import blocks refuses to import, by its name`, () => {
    const { imports } = drivers[tool] ?? assert.fail('no driver');
    const [older, newer] = tool === 'terraform' ? ['1.4.7', '1.5.0'] : ['1.6.0-alpha1', '1.6.0'];
    assert.match(imports?.refusal(older) ?? '', new RegExp(`${older} cannot import`));
    assert.equal(imports?.refusal(newer), null);
  });
}

test('the import file is not left for a later run of the same environment', withTerraform, async (t) => {
  const setup = createSetup(t, files);
  const planned = await setup.run(setup.job({ imports: [...wanted] }));
  const tree = join(dirnameOf(planned), 'tree');
  const named = () => (existsSync(tree) ? readdirSync(tree) : []).filter((name) => name.includes('imports'));
  assert.equal(named().length, 1);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(tree, named()[0] ?? ''), 'utf8')) as object), [
    'import',
  ]);
  const next = await setup.run(setup.job());
  assert.deepEqual([named(), next.outcome.planSummary?.imported], [[], undefined]);
});

function dirnameOf({ outcome, job }: Ran): string {
  return join(outcome.workFolder ?? '', job.environmentId);
}
