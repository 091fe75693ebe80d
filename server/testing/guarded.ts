/** Environments whose plans are checked by approval policies, as tests need them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { placeOf, withToolbox } from '../../tools/toolbox/places.ts';
import { plannedOutcome, type TestAgent } from './agent.ts';
import type { TestApp } from './app.ts';
import { ok, type Reply } from './client.ts';
import { createIdle, deploy, deploymentOf } from './environment.ts';
import { startAgentTests } from './start.ts';

let count = 0;

function git(folder: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim();
}

/** Commits another text of a policy. @returns the commit */
export function commitPolicy(folder: string, text: string): string {
  writeFileSync(join(folder, 'policies', 'policy.rego'), text);
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'policy');
  return git(folder, 'rev-parse', 'HEAD');
}

/** A rule that always holds. */
export const says = (rule: string, message = rule): string =>
  `package envarium\n${rule} contains "${message}"`;

type Scope = 'ORGANIZATION' | 'PROJECT' | 'BLUEPRINT';

export interface NewPolicy {
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  readonly head: string;
}

/** Plan as an agent sends it. */
export const policyInput = {
  plan: { resource_changes: [{ address: 'a.b', change: { actions: ['create'] } }] },
};

/** An app that asks approval policies, with its agent and what tests do with both, until the end of their file. */
export async function startPolicyTests(settings: Readonly<Record<string, string>> = {}) {
  const repositories = mkdtempSync(join(tmpdir(), 'policy-repositories-'));
  const tests = await startAgentTests({
    ENVARIUM_GIT_LOCAL_PATHS: repositories,
    ENVARIUM_OPA: placeOf('opa') ?? '/nowhere/opa',
    ...settings,
  });
  const { app, agent } = tests;
  after(() => {
    app.stopping.abort();
    rmSync(repositories, { recursive: true });
  });
  const needsOpa = withToolbox('opa');
  return {
    ...{ ...tests, repositories, needsOpa },
    /** A test that needs the program, for files in which each does. */
    test: (name: string, body: () => Promise<void>): void => void test(name, needsOpa, body),
    ...policyTests(app, agent, repositories),
  };
}

/** @param repositories folder that the app may read */
function policyTests(app: TestApp, agent: TestAgent, repositories: string) {
  const { organizationId } = app;

  /** A policy in a repository of its own. */
  async function newPolicy(text: string, more: object = {}): Promise<NewPolicy> {
    const folder = join(repositories, `policy-${++count}`);
    mkdirSync(join(folder, 'policies'), { recursive: true });
    git(folder, 'init', '-q');
    const head = commitPolicy(folder, text);
    const policy = await ok(app, 'createApprovalPolicy', {
      body: { organizationId, name: `policy ${count}`, repository: folder, path: 'policies', ...more },
    });
    return { id: policy.id, name: policy.name, folder, head };
  }

  const assign = (blueprintId: string, scope: Scope, scopeId: string) =>
    ok(app, 'assignApprovalPolicy', { body: { scope, scopeId, blueprintId } });

  /** A project with policies of these texts, and an environment in it. */
  async function guarded(texts: readonly string[], more: object = {}) {
    const project = await ok(app, 'createProject', { body: { organizationId, name: `guarded ${++count}` } });
    const policies: NewPolicy[] = [];
    for (const text of texts) {
      const policy = await newPolicy(text);
      await assign(policy.id, 'PROJECT', project.id);
      policies.push(policy);
    }
    const environment = await createIdle(app, { name: `env ${count}`, projectId: project.id, ...more });
    return { project, policies, environment };
  }

  /** Plans a deployment that was requested. */
  async function plan(): Promise<Job> {
    const job = await agent.claim();
    await agent.putBlob(job, 'plan', 'plan');
    if (job.isPolicyInputWanted) await agent.putBlob(job, 'policy-input', JSON.stringify(policyInput));
    assert.equal(await agent.finish(job, plannedOutcome()), null);
    return job;
  }

  /** Plans a deployment; its policies have not decided yet. */
  async function planned(environmentId: string, body: object = {}): Promise<{ id: string; job: Job }> {
    const { id } = await deploy(app, environmentId, body);
    return { id, job: await plan() };
  }

  /** Plans a deployment, and lets its policies decide. */
  async function checked(
    environmentId: string,
    body: object = {},
  ): Promise<{ id: string; job: Job; deployment: Reply<'getDeployment'> }> {
    const { id, job } = await planned(environmentId, body);
    await app.carryOutEffects();
    return { id, job, deployment: await deploymentOf(app, id) };
  }

  /** The log of the check. */
  async function logOf(deploymentLogId: string): Promise<string> {
    const { events } = await ok(app, 'getStepLog', { params: { deploymentLogId, name: 'policy:check' } });
    return events.map(({ message }) => message).join('\n');
  }

  return { newPolicy, assign, guarded, plan, planned, checked, logOf };
}
