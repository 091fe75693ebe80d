/** One suite for all drivers; a driver leaves a case out only with a written reason. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { deploymentSteps, type RunnableTool, tools } from '#protocol/tools/index.ts';
import { type RunnableDeploymentType, runnableDeploymentTypes } from '#protocol/tools/steps.ts';
import {
  capturesOf,
  contextIn,
  type Material,
  materialOf,
  planted,
  plantedJob,
  recordingOf,
} from '../../testing/driver-material.ts';
import { drivers } from './index.ts';
import { type Command, onlyCommands } from './interface/command.ts';
import { type Driver, type DriverContext, type StateCapability, TornState } from './interface/driver.ts';

async function commandsOf(driver: Driver, context: DriverContext): Promise<Command[][]> {
  return [[...onlyCommands(await driver.prepare(context)), ...driver.plan(context)], driver.apply(context)];
}

/** Each step once, where its first command is. */
function stepsOf(commands: readonly { readonly step: string }[]): string[] {
  return commands.map(({ step }) => step).filter((step, index, all) => step !== all[index - 1]);
}

/**
 * Types that end after their plan take no commands of the apply phase, and a task only those that prepare.
 */
function isNeverRun(tool: RunnableTool, type: RunnableDeploymentType, step: string): boolean {
  const { plan, apply, destroy, outputs } = tools[tool].steps;
  const later = [apply, destroy, outputs];
  if (type === 'task') return [plan, ...later].includes(step);
  return type !== 'deploy' && type !== 'destroy' && later.includes(step);
}

for (const [tool, driver] of Object.entries(drivers) as [RunnableTool, Driver][]) {
  const material = await materialOf(tool);
  const facts = tools[tool];
  describe(`the ${tool} driver`, () => {
    const contextOf = (changes: Partial<Job>, stateFolder: string | null) =>
      contextIn(material, { tool, ...changes }, stateFolder);
    const folders = driver.state === undefined ? [null] : ['/work folder/state', null];
    const cases = runnableDeploymentTypes.flatMap((type) =>
      folders.map((stateFolder) => ({ type, stateFolder })),
    );
    const each = async (check: (commands: Command[], type: RunnableDeploymentType) => void) => {
      for (const { type, stateFolder } of cases) {
        for (const commands of await commandsOf(driver, contextOf({ type }, stateFolder)))
          check(commands, type);
      }
    };

    it("has the capabilities that its tool's facts promise", () => {
      assert.equal(driver.type, facts.type);
      assert.equal(driver.programs[0], facts.program.name);
      const companions = facts.companions.map(({ program }) => program.name);
      assert.deepEqual(driver.programs.slice(1).toSorted(), companions.toSorted());
      assert.equal(driver.state !== undefined, facts.state !== null);
      if (facts.approval.isExact) assert.ok(driver.savedPlan);
      assert.match(facts.approval.covers, /^[a-z].*[^.]$/);
      assert.equal(driver.imports !== undefined, facts.importsResources);
      assert.equal(driver.costs !== undefined, facts.estimatesCosts === true);
    });

    it('uses only what its capabilities announce', () =>
      each((commands) => {
        for (const { eventFile, installsProviders, isForEncryptedState } of commands) {
          if (eventFile !== undefined) assert.ok(driver.progress?.fromFile);
          if (installsProviders) assert.ok(driver.providers);
          if (isForEncryptedState) assert.ok(driver.state);
        }
      }));

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
          const isStep = deploymentSteps(tool, type).includes(step);
          assert.ok(isStep || isNeverRun(tool, type, step), `${type}: ${step}`);
        }
      }));

    it('runs each phase in the steps that its facts name for it, and reads outputs last', async () => {
      const { prepare, plan, apply, destroy, outputs } = facts.steps;
      for (const { type, stateFolder } of cases) {
        const context = contextOf({ type }, stateFolder);
        const preparing = stepsOf(await driver.prepare(context));
        assert.deepEqual(
          preparing,
          prepare.filter((step) => preparing.includes(step)),
        );
        assert.deepEqual(stepsOf(driver.plan(context)), [plan]);
        const [applying, ...reading] = stepsOf(driver.apply(context));
        assert.equal(applying, type === 'destroy' ? destroy : apply);
        assert.deepEqual(
          reading,
          reading.map(() => outputs),
        );
      }
    });

    it('cleans up after a destroy without changing resources', async () => {
      for (const stateFolder of folders) {
        const commands = (await driver.afterDestroy?.(contextOf({ type: 'destroy' }, stateFolder))) ?? [];
        for (const { step, label, program, args, isChanging } of commands) {
          assert.equal(step, facts.steps.destroy);
          assert.ok(label.trim() !== '' && driver.programs.includes(program) && isChanging !== true);
          for (const value of planted) assert.ok(!args.some((text) => text.includes(value)));
        }
      }
    });

    it('describes the same whenever it is called', async () => {
      for (const { type, stateFolder } of cases) {
        const describeAll = async () =>
          JSON.stringify(await commandsOf(driver, contextOf({ type }, stateFolder)));
        assert.equal(await describeAll(), await describeAll());
      }
    });

    it("puts no variable's value into an argument or a label", () =>
      each((commands) => {
        for (const { args, label } of commands)
          for (const value of planted) assert.ok(![...args, label].some((text) => text.includes(value)));
      }));

    it('marks exactly the commands of the apply phase that change the world', async () => {
      for (const { type, stateFolder } of cases) {
        const [planning, applying] = await commandsOf(driver, contextOf({ type }, stateFolder));
        assert.ok(planning!.every((command) => !command.isChanging));
        assert.ok(applying!.some((command) => command.isChanging));
      }
    });

    it('reads outputs in the step that its facts name, after a deploy and not after a destroy', () => {
      const reading = (type: RunnableDeploymentType) =>
        driver.apply(contextOf({ type }, null)).filter(({ step }) => step === facts.steps.outputs);
      assert.ok([...reading('deploy')].every((command) => !command.isChanging));
      assert.equal(reading('deploy').length > 0, facts.steps.outputs !== null);
      assert.deepEqual(reading('destroy'), []);
    });

    it('destroys otherwise than it deploys', async () => {
      const plan = (type: RunnableDeploymentType) =>
        driver.plan(contextOf({ type }, null)).map((command) => command.args);
      assert.notDeepEqual(plan('destroy'), plan('deploy'));
      assert.deepEqual(plan('dryRun'), plan('deploy'));
    });

    it('plans with the targets that were requested', () => {
      const targets = ['module.a["x y"].terraform_data.b[0]'];
      const expected = facts.planArguments({ targets, skipsRefresh: false });
      const commands = driver.plan(contextOf({ targets }, null));
      for (const argument of expected)
        assert.ok(
          commands.some(({ args }) => args.includes(argument)),
          argument,
        );
    });

    it("keeps secret files apart and below the configuration's folder", async () => {
      const files = await driver.files(contextOf({}, folders[0] ?? null));
      for (const { name, content, isSecret } of files) {
        assert.ok(!name.startsWith('/') && !name.split('/').includes('..'));
        if (planted.some((value) => content.includes(value))) assert.ok(isSecret, name);
      }
    });

    it("hands the tool's own variables over in files, in the environment or as input", async () => {
      const context = contextOf({}, folders[0] ?? null);
      const texts = [
        ...(await driver.files(context)).map((file) => file.content),
        ...Object.values(driver.environment(context)),
        ...driver.plan(context).flatMap((command) => Object.values(command.environment ?? {})),
        ...onlyCommands(await driver.prepare(context)).map(({ input }) => String(input?.(new Map()) ?? '')),
      ];
      assert.ok(texts.some((text) => text.includes(planted[2])));
    });

    for (const [name, recorded] of Object.entries(material.plans)) {
      it(`reads ${name}`, async () => {
        const captured = await capturesOf(tool, recorded);
        const reading = await driver.readPlan(contextOf(recorded.job ?? {}, null), captured);
        assert.deepEqual(reading.planSummary, recorded.summary);
        assert.equal(reading.hasChanges, recorded.hasChanges);
        assert.equal(reading.hasResourceChanges, Object.keys(recorded.changes).length > 0);
        const found = Object.fromEntries(reading.plan.resourceChanges.map((row) => [row.path, row.action]));
        for (const [path, action] of Object.entries(recorded.changes))
          assert.equal(found[path], action, path);
        if (Object.keys(recorded.changes).length === 0) assert.deepEqual(found, {});
      });
    }

    it('refuses variables that break a promise, without their values', () => {
      for (const [name, value] of Object.entries({ LD_PRELOAD: '/planted.so', ...material.refused })) {
        const environment = [{ name, value, isSensitive: false }];
        const found = driver.refusals(plantedJob({ tool, variables: { environment, terraform: [] } }));
        assert.ok(
          found.some((text) => text.startsWith(name) && !text.includes(value)),
          `${name}: ${found}`,
        );
      }
    });

    it('runs a job without refusals', () => assert.deepEqual(driver.refusals(plantedJob({ tool })), []));

    const { state } = driver;
    if (state !== undefined) describeState(tool, driver, state, material);
  });
}

function describeState(tool: RunnableTool, driver: Driver, state: StateCapability, material: Material): void {
  it('reads a recorded state', async () => {
    const expected = material.state;
    assert.ok(expected, 'a tool with a state has a recorded one');
    const reading = state.read(await recordingOf(tool, expected.file));
    assert.equal(reading.resourceCount, expected.resourceCount);
    assert.deepEqual(
      Object.fromEntries(Object.entries(reading.outputs).map(([name, output]) => [name, output.sensitive])),
      expected.outputs,
    );
  });

  it('takes bytes that were cut off for no state', async () => {
    const bytes = await recordingOf(tool, material.state?.file ?? '');
    assert.throws(() => state.read(bytes.subarray(0, bytes.length / 2)), TornState);
  });

  if (state.file === undefined) return;
  it('refuses what would move its state', () => {
    assert.equal(driver.refusals(plantedJob({ tool, workspaceName: '../other' })).length, 1);
  });
}
