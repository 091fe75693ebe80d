import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentSteps, isRunnable, programFacts, runnableTools, toolFacts, tools } from './index.ts';
import { runnableDeploymentTypes } from './steps.ts';

test('every tool is listed under its own type, with a program that no other tool has', () => {
  for (const [type, facts] of Object.entries(tools)) {
    assert.equal(facts.type, type);
    assert.equal(programFacts(facts.program.name), facts.program);
  }
  for (const type of ['ansible', 'k8s', 'opentofu', 'terraform']) assert.ok(isRunnable(type), type);
});

test('a tool that this version cannot run has no facts', () => {
  for (const name of ['workflow', 'toString', '']) {
    assert.equal(isRunnable(name), false);
    assert.equal(toolFacts(name), undefined);
  }
});

test('the steps of a deployment have unique names', () => {
  for (const tool of runnableTools) {
    for (const type of runnableDeploymentTypes) {
      const steps = deploymentSteps(tool, type);
      assert.equal(new Set(steps).size, steps.length, `${tool} ${type}`);
    }
  }
});

test('a deploy prepares, plans, waits for approval, applies, reads outputs and stores the state', () => {
  assert.deepEqual(deploymentSteps('opentofu', 'deploy'), [
    'git:clone',
    'variables:setup',
    'opentofu:init',
    'opentofu:workspace',
    'opentofu:plan',
    'approval:wait',
    'apply:prepare',
    'opentofu:apply',
    'opentofu:output',
    'state:store',
  ]);
});
