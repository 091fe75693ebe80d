/** One suite for all drivers; a driver leaves a case out only with a written reason. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deploymentSteps, type RunnableTool } from '#protocol/tools/index.ts';
import { runnableDeploymentTypes, type RunnableDeploymentType } from '#protocol/tools/steps.ts';
import type { Job, PlanSummary } from '#protocol/messages.ts';
import { jobOf, treeFrom } from '../testing/driver-job.ts';
import type { Command, Driver, DriverContext } from './driver.ts';
import { drivers } from './index.ts';

interface RecordedPlan {
  /** Captured files by their `captureTo` names. */
  readonly files: Readonly<Record<string, string>>;
  readonly summary: PlanSummary;
  readonly changes: Readonly<Record<string, string>>;
  readonly hasChanges: boolean;
}

interface Material {
  readonly tree: Readonly<Record<string, string>>;
  readonly plans: Readonly<Record<string, RecordedPlan>>;
  readonly state: {
    readonly file: string;
    readonly resourceCount: number;
    readonly outputs: Readonly<Record<string, boolean>>;
  };
}

/**
 * What was recorded with one version of a tool of the terraform family; the same stories were played to all
 * of them.
 */
function familyMaterial(version: string): Material {
  return {
    tree: { 'main.tf': 'resource "terraform_data" "a" {}\n' },
    plans: {
      'a first deployment': {
        files: { 'plan.json': `create-${version}.plan.json` },
        summary: { added: 12, changed: 0, destroyed: 0 },
        changes: {
          'terraform_data.updated': 'create',
          'terraform_data.gone[1]': 'create',
          'module.vpc["i.1"].terraform_data.subnet["q\\"uote"]': 'create',
        },
        hasChanges: true,
      },
      'a change of every kind': {
        files: { 'plan.json': `change-${version}.plan.json` },
        summary: { added: 2, changed: 2, destroyed: 4, imported: 1 },
        changes: {
          'terraform_data.adopted': 'metadata',
          'terraform_data.follows': 'update',
          'terraform_data.gone[0]': 'delete',
          'terraform_data.gone[1]': 'delete',
          'terraform_data.left': 'metadata',
          'terraform_data.made_first': 'recreate',
          'terraform_data.new': 'metadata',
          'terraform_data.replaced': 'recreate',
          'terraform_data.updated': 'update',
        },
        hasChanges: true,
      },
      'no change': {
        files: { 'plan.json': `nothing-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 0 },
        changes: {},
        hasChanges: false,
      },
      'a change of outputs only': {
        files: { 'plan.json': `outputs-only-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 0 },
        changes: {},
        hasChanges: true,
      },
      'a move': {
        files: { 'plan.json': `move-only-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 0 },
        changes: { 'terraform_data.still_same': 'metadata' },
        hasChanges: true,
      },
      'a destroy': {
        files: { 'plan.json': `destroy-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 10 },
        changes: { 'terraform_data.new': 'delete' },
        hasChanges: true,
      },
      'a drift run': {
        files: { 'plan.json': `drift-${version}.plan.json`, 'refresh.json': `drift-${version}.refresh.json` },
        summary: { added: 1, changed: 2, destroyed: 0 },
        changes: {
          'aws_ssm_parameter.changed': 'update',
          'aws_ssm_parameter.code': 'update',
          'aws_ssm_parameter.deleted': 'create',
          'aws_ssm_parameter.described': 'update',
        },
        hasChanges: true,
      },
      'a drift run that finds nothing': {
        files: {
          'plan.json': `nothing-${version}.plan.json`,
          'refresh.json': `refresh-nothing-${version}.plan.json`,
        },
        summary: { added: 0, changed: 0, destroyed: 0 },
        changes: {},
        hasChanges: false,
      },
    },
    state: {
      file: `created-${version}.tfstate`,
      resourceCount: 12,
      outputs: { old_output: false, password: true, size: false },
    },
  };
}

const materials: Record<RunnableTool, Material> = {
  terraform: familyMaterial('1.11.4'),
  opentofu: familyMaterial('1.12.6'),
};

const planted = ['planted value one', 'planted-two', 'planted_three', 'user:planted@example'] as const;

function plantedJob(changes: Partial<Job>): Job {
  return jobOf({
    variables: {
      environment: [
        { name: 'TOKEN', value: planted[0], isSensitive: true },
        { name: 'PLAIN', value: planted[1], isSensitive: false },
      ],
      terraform: [{ name: 'input', value: planted[2], isSensitive: true }],
    },
    systemVariables: { ENVARIUM_DEPLOYER_EMAIL: planted[3] },
    secrets: [planted[0], planted[2]],
    ...changes,
  });
}

function contextOf(tool: RunnableTool, changes: Partial<Job>, stateFolder: string | null): DriverContext {
  return {
    job: plantedJob(changes),
    configurationFolder: '/work folder/tree',
    stateFolder,
    planFile: '/work folder/plan',
    tree: treeFrom(materials[tool].tree),
  };
}

async function commandsOf(driver: Driver, context: DriverContext): Promise<Command[][]> {
  return [[...(await driver.prepare(context)), ...driver.plan(context)], driver.apply(context)];
}

/**
 * Types that end after their plan take no commands of the apply phase, and a task only those that prepare.
 */
function isNeverRun(type: RunnableDeploymentType, step: string): boolean {
  if (type === 'task') return /:(plan|apply|output)$/.test(step);
  return type !== 'deploy' && type !== 'destroy' && /:(apply|output)$/.test(step);
}

function inputOf(tool: RunnableTool, name: string): Promise<Buffer> {
  return readFile(join(import.meta.dirname, tool, '__fixtures__', name));
}

for (const [tool, driver] of Object.entries(drivers) as [RunnableTool, Driver][]) {
  describe(`the ${tool} driver`, () => {
    const material = materials[tool];
    const cases = runnableDeploymentTypes.flatMap((type) =>
      ['/work folder/state', null].map((stateFolder) => ({ type, stateFolder })),
    );
    const each = async (check: (commands: Command[], type: RunnableDeploymentType) => void) => {
      for (const { type, stateFolder } of cases) {
        for (const commands of await commandsOf(driver, contextOf(tool, { type }, stateFolder)))
          check(commands, type);
      }
    };

    it('labels commands uniquely within a phase', () =>
      each((commands) => {
        const labels = commands.map((command) => command.label);
        assert.equal(new Set(labels).size, labels.length);
        assert.ok(labels.every((label) => label.trim() !== ''));
      }));

    it('runs programs that it names, in steps of the deployment', () =>
      each((commands, type) => {
        for (const { step, program } of commands) {
          assert.ok(driver.programs.includes(program));
          assert.ok(deploymentSteps(tool, type).includes(step) || isNeverRun(type, step), `${type}: ${step}`);
        }
      }));

    it("puts no variable's value into an argument or a label", () =>
      each((commands) => {
        for (const { args, label } of commands)
          for (const value of planted) assert.ok(![...args, label].some((text) => text.includes(value)));
      }));

    it('marks exactly the commands of the apply phase that change the world', async () => {
      for (const { type, stateFolder } of cases) {
        const [planning, applying] = await commandsOf(driver, contextOf(tool, { type }, stateFolder));
        assert.ok(planning!.every((command) => !command.isChanging));
        assert.equal(applying!.filter((command) => command.isChanging).length, 1);
      }
    });

    it('destroys otherwise than it deploys', async () => {
      const plan = (type: RunnableDeploymentType) =>
        driver.plan(contextOf(tool, { type }, null)).map((command) => command.args);
      assert.notDeepEqual(plan('destroy'), plan('deploy'));
      assert.deepEqual(plan('dryRun'), plan('deploy'));
    });

    it('plans with the targets that were asked for', () => {
      const target = 'module.a["x y"].terraform_data.b[0]';
      const commands = driver.plan(contextOf(tool, { targets: [target] }, null));
      assert.ok(commands.some((command) => command.args.some((argument) => argument.endsWith(`=${target}`))));
    });

    it("keeps secret files apart and below the configuration's folder", async () => {
      const files = await driver.files(contextOf(tool, {}, '/work folder/state'));
      for (const { name, content, isSecret } of files) {
        assert.ok(!name.startsWith('/') && !name.split('/').includes('..'));
        if (planted.some((value) => content.includes(value))) assert.ok(isSecret, name);
      }
      assert.ok(files.some((file) => file.content.includes(planted[2])));
    });

    for (const [name, recorded] of Object.entries(material.plans)) {
      it(`reads ${name}`, async () => {
        const captured = new Map<string, Buffer>();
        for (const [file, fixture] of Object.entries(recorded.files))
          captured.set(file, await inputOf(tool, fixture));
        const reading = await driver.readPlan(contextOf(tool, {}, null), captured);
        assert.deepEqual(reading.planSummary, recorded.summary);
        assert.equal(reading.hasChanges, recorded.hasChanges);
        assert.equal(reading.hasResourceChanges, Object.keys(recorded.changes).length > 0);
        const found = Object.fromEntries(reading.plan.resourceChanges.map((row) => [row.path, row.action]));
        for (const [path, action] of Object.entries(recorded.changes))
          assert.equal(found[path], action, path);
        if (Object.keys(recorded.changes).length === 0) assert.deepEqual(found, {});
      });
    }

    it('reads a recorded state', async () => {
      const reading = driver.readState(await inputOf(tool, material.state.file));
      assert.equal(reading.resourceCount, material.state.resourceCount);
      assert.deepEqual(
        Object.fromEntries(Object.entries(reading.outputs).map(([name, output]) => [name, output.sensitive])),
        material.state.outputs,
      );
    });

    it('runs a job without refusals, and refuses what would move its state', () => {
      assert.deepEqual(driver.refusals(plantedJob({})), []);
      assert.equal(driver.refusals(plantedJob({ workspaceName: '../other' })).length, 1);
    });
  });
}
