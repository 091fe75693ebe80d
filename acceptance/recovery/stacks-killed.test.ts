/**
 * Deployments of a stack of which a process is killed while AWS works: AWS continues, by the end everything exists
 * once, and the next deployment waits for what is under way.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type StackServer, startStackServer } from '../../agent/testing/cloudformation/server.ts';
import { withOwnProgram } from '../../agent/testing/cloudformation/with-own-program.ts';
import { readExample } from '../../tools/examples.ts';
import { createEnvironment, deploy, destroyAndEnd, until, untilEnd, untilStatus, wholeLog } from '../runs.ts';
import { makeRepository, type Repository } from '../service.ts';
import { MortalService } from './mortal-service.ts';
import { commandPid, runnerPid, sendSignal } from './processes.ts';

describe('a deployment of a stack, killed while AWS works,', withOwnProgram, () => {
  const mortal = new MortalService();
  let aws: StackServer;
  let repository: Repository;

  before(async () => {
    aws = await startStackServer();
    repository = await makeRepository(mortal.folder, 'stack', readExample('cloudformation'));
  });
  after(() => aws?.[Symbol.asyncDispose]());

  /** A first deployment whose resources do not become ready. */
  async function waitingRun(workspaceName: string) {
    aws.account.cloud.hold();
    const created = await createEnvironment(mortal.client, mortal.home, {
      type: 'cloudformation',
      workspaceName,
      fileName: 'template.yaml',
      repository: repository.path,
      configurationChanges: Object.entries(aws.environment).map(([name, value]) => ({
        name,
        value,
        type: 0,
      })),
    });
    await until(
      'the stack in AWS',
      async () =>
        aws.account.stackNames.includes(workspaceName) &&
        aws.account.stack(workspaceName).status === 'CREATE_IN_PROGRESS',
    );
    const command = await commandPid(mortal.running, created.id, /cloudformation execute-change-set/);
    return { ...created, command };
  }

  const executions = () => aws.requests.filter((action) => action === 'ExecuteChangeSet').length;

  /** The next deployment finds what there is, and a destroy leaves nothing. */
  async function continued(id: string, release: boolean): Promise<string> {
    const looks = () => aws.requests.filter((action) => action === 'DescribeStacks').length;
    const looked = looks();
    const next = await deploy(mortal.client, id);
    if (release) {
      // It looks once more only if it waits.
      await until('a run that waits', async () => looks() > looked + 2);
      aws.account.cloud.release();
    }
    const deployed = await untilEnd(mortal.client, next.id);
    assert.equal(deployed.resourceCount, 3);
    assert.equal(aws.account.cloud.resources.size, 3, 'everything exists once');
    await destroyAndEnd(mortal.client, id);
    assert.equal(aws.account.cloud.resources.size, 0);
    return wholeLog(mortal.client, next.id);
  }

  for (const victim of ['tool', 'runner'] as const)
    test(`the ${victim} is killed: the deployment fails, and the next one waits for AWS`, async () => {
      const before = executions();
      const { id, deploymentId, command } = await waitingRun(`killed-${victim}`);
      sendSignal(victim === 'tool' ? command : await runnerPid(mortal.running, id), 'SIGKILL');
      const ended = await untilStatus(mortal.client, deploymentId);
      assert.match(ended.status, /FAILURE$/, ended.error?.message);
      const log = await continued(id, true);
      assert.match(log, /is CREATE_IN_PROGRESS: another change or an earlier run is at work/);
      assert.equal(executions(), before + 1, 'nothing is begun twice');
    });

  for (const victim of ['agent', 'server'] as const)
    test(`the ${victim} is killed: the deployment continues and succeeds`, async () => {
      const before = executions();
      const { id, deploymentId } = await waitingRun(`killed-${victim}`);
      await mortal.kill(victim);
      aws.account.cloud.release();
      await untilEnd(mortal.client, deploymentId);
      assert.equal(executions(), before + 1);
      await continued(id, false);
    });
});
