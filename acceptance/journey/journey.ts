/**
 * The journey that every tool makes, with the real tool and through the public interface only: create, plan, approve,
 * apply, change, drift, outputs, a lost disk, an abort, a failure half-way, destroy. What a tool cannot do is what
 * docs/use/tools.md says, and nothing else.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { outputsByName } from '#contract/deployments/unit-outputs.ts';
import { deploymentSteps, tools } from '#protocol/tools/index.ts';
import { follow } from '../follow.ts';
import { createEnvironment, deploy, until, untilEnd, untilStatus } from '../runs.ts';
import { makeRepository, type Repository } from '../service.ts';
import { type Promises, promisesOf } from './promises.ts';
import { type JourneyStage, startStage } from './stage.ts';
import type { Alteration, Expected, JourneyScenario, Traveller } from './traveller.ts';

/** Lets a tool make the journey, each station a test of its own; after the first that fails, there are no others. */
export function journey(traveller: Traveller): void {
  const { type, manner, needs } = traveller;
  test(`the journey of ${type}${manner === undefined ? '' : ` ${manner}`}`, needs, async (t) => {
    const stage = await startStage(t, (folder) => traveller.settings(folder));
    const scenario = await traveller.arrive(t, stage.folder);
    const repository = await makeRepository(stage.folder, 'journey', scenario.files);
    const walk = new Walk(traveller, stage, scenario, repository, await promisesOf(type));
    let isOver = false;
    for (const [name, station] of Object.entries(walk.stations)) {
      await t.test(name, { skip: isOver && 'an earlier station failed' }, async () => {
        isOver = true;
        await station();
        isOver = false;
      });
    }
  });
}

const rowsOf = ({ plan }: Deployment): string[] =>
  (plan?.resourceChanges ?? [])
    .filter(({ action }) => action !== 'metadata')
    .map(({ action, path }) => `${action} ${path}`)
    .sort();

const nothing = { added: 0, changed: 0, destroyed: 0 };

class Walk {
  readonly #traveller: Traveller;
  readonly #stage: JourneyStage;
  readonly #scenario: JourneyScenario;
  readonly #repository: Repository;
  readonly #promises: Promises;
  #id = '';
  #deploymentId = '';

  constructor(
    traveller: Traveller,
    stage: JourneyStage,
    scenario: JourneyScenario,
    repository: Repository,
    promises: Promises,
  ) {
    this.#traveller = traveller;
    this.#stage = stage;
    this.#scenario = scenario;
    this.#repository = repository;
    this.#promises = promises;
  }

  /** In their order. */
  readonly stations: Readonly<Record<string, () => Promise<void>>> = {
    'is created and planned': () => this.#create(),
    'is approved and applied': () => this.#apply(),
    'is changed': () => this.#change(),
    'has drift, which is found and named': () => this.#drift(),
    'is repaired': () => this.#repair(),
    'knows all of it after the disk of its agent is lost': () => this.#loseDisk(),
    'is aborted, and can be deployed again': () => this.#abort(),
    'fails half-way, and continues': () => this.#fail(),
    'is destroyed': () => this.#destroy(),
  };

  async #create(): Promise<void> {
    const { client, home } = this.#stage;
    const { request, create } = this.#scenario;
    const before = await this.#scenario.world();
    const { id, deploymentId, environment } = await createEnvironment(client, home, {
      name: 'journey',
      type: this.#traveller.type,
      requiresApproval: true,
      repository: this.#repository.path,
      ...request,
    });
    assert.equal(environment.status, 'CREATED');
    [this.#id, this.#deploymentId] = [id, deploymentId];
    const planned = await this.#planned(deploymentId, create);
    const { approval } = tools[this.#traveller.type];
    const text = planned.waitingFor?.text ?? '';
    assert.equal(text.includes(`The approval covers ${approval.covers}`), !this.#promises.isExact, text);
    assert.equal(await this.#status(), 'WAITING_FOR_USER');
    assert.deepEqual(await this.#scenario.world(), before, 'a plan changes nothing');
  }

  async #apply(): Promise<void> {
    const { client } = this.#stage;
    const { create, secret } = this.#scenario;
    const { hasStates, hasOutputs, reportsProgress } = this.#promises;
    const applied = await this.#approved(this.#deploymentId, create);
    assert.equal(await this.#status(), 'ACTIVE');
    assert.equal(applied.resourceCount, create.resourceCount ?? create.rows.length);
    assert.equal(applied.resources?.length, applied.resourceCount);
    assert.equal(create.outputs !== undefined, hasOutputs);
    this.#expectOutputs(applied, create.outputs);
    const versions = await client.call('listStateVersions', { params: { id: this.#id } });
    assert.equal(versions.length > 0, hasStates);
    if (hasStates) assert.equal(versions[0]?.id, applied.stateVersionId);
    const reported = await this.#reportedResources(this.#deploymentId);
    assert.equal(reported.length > 0, reportsProgress, JSON.stringify(reported));
    assert.ok(!JSON.stringify(applied).includes(secret));
  }

  async #change(): Promise<void> {
    const { change } = this.#scenario;
    const id = await this.#deploy(change);
    await this.#planned(id, change);
    const changed = await this.#approved(id, change);
    this.#expectOutputs(changed, change.outputs ?? this.#scenario.create.outputs);
  }

  async #drift(): Promise<void> {
    const { client } = this.#stage;
    const { drift } = this.#scenario;
    assert.deepEqual(rowsOf(await this.#lookForDrift('OK')), []);
    await drift.cause();
    const caused = await this.#scenario.world();
    const found = await this.#lookForDrift('DRIFTED');
    assert.ok(rowsOf(found).includes(drift.row), rowsOf(found).join('\n'));
    const row = found.plan?.resourceChanges.find(({ action, path }) => `${action} ${path}` === drift.row);
    assert.equal(row?.driftByCloud === true, this.#promises.marksDrift, JSON.stringify(row));
    if (drift.evidence !== undefined) assert.match(JSON.stringify(row), drift.evidence);
    assert.deepEqual(await this.#scenario.world(), caused, 'a search for drift changes nothing');
    const { driftDeployment } = await client.call('getDriftStatus', { params: { id: found.id ?? '' } });
    assert.equal(driftDeployment.id, found.id);
  }

  async #repair(): Promise<void> {
    const id = await this.#deploy();
    const planned = await this.#waiting(id);
    assert.ok(rowsOf(planned).includes(this.#scenario.drift.row), rowsOf(planned).join('\n'));
    await this.#approved(id, this.#scenario.change);
    assert.equal((await this.#environment()).driftStatus, 'OK');
  }

  async #loseDisk(): Promise<void> {
    const { world } = this.#scenario.change;
    const { outputs } = this.#scenario.change;
    await this.#stage.loseDisk();
    const id = await this.#deploy();
    await this.#planned(id, { summary: nothing, rows: [] });
    const same = await this.#approved(id, { world });
    this.#expectOutputs(same, outputs ?? this.#scenario.create.outputs);
  }

  async #abort(): Promise<void> {
    const { client } = this.#stage;
    const { hang } = this.#scenario;
    const params = { id: await this.#deploy(hang) };
    await this.#waiting(params.id);
    await client.call('approveDeployment', { params });
    await until('the run that waits', () => hang.isWaiting());
    await client.call('abortDeployment', { params });
    await this.#ended(params.id, 'ABORTED');
    assert.equal(await this.#status(), 'ABORTED');
    await this.#deployAs(hang.next);
    assert.equal(await this.#status(), 'ACTIVE');
  }

  async #fail(): Promise<void> {
    const { client } = this.#stage;
    const { failure } = this.#scenario;
    const params = { id: await this.#deploy(failure) };
    await this.#waiting(params.id);
    await failure.spoil?.();
    await client.call('approveDeployment', { params });
    const failed = await this.#ended(params.id, 'FAILURE');
    assert.match(failed.error?.message ?? '', failure.reason);
    assert.ok(failed.failedCommand, 'the command that failed is named');
    assert.deepEqual(await this.#scenario.world(), failure.world);
    const [newest] = await client.call('listStateVersions', { params: { id: this.#id } });
    assert.equal(newest?.deploymentLogId, this.#promises.hasStates ? params.id : undefined);
    assert.equal(await this.#status(), 'FAILED');
    await failure.mend();
    await this.#deployAs(failure.next);
    assert.equal(await this.#status(), 'ACTIVE');
  }

  async #destroy(): Promise<void> {
    const { client } = this.#stage;
    const { destroy } = this.#scenario;
    const params = { id: this.#id };
    const { id } = await client.call('destroyEnvironment', { params });
    await this.#planned(id, destroy);
    const destroyed = await this.#approved(id, destroy);
    assert.ok(!destroyed.resourceCount, 'there are no resources');
    assert.equal(await this.#status(), 'INACTIVE');
    await assert.rejects(client.call('destroyEnvironment', { params }), { status: 400, message: /inactive/ });
  }

  /** Deploys, approves what is expected, and waits for the end. */
  async #deployAs(wanted: Alteration & Expected): Promise<Deployment> {
    const id = await this.#deploy(wanted);
    await this.#planned(id, wanted);
    return this.#approved(id, wanted);
  }

  async #deploy({ files, variables }: Alteration = {}): Promise<string> {
    if (files !== undefined) await this.#repository.commit(files);
    const body = variables === undefined ? {} : { configurationChanges: [...variables] };
    return (await deploy(this.#stage.client, this.#id, body)).id;
  }

  async #waiting(id: string): Promise<Deployment> {
    const planned = await untilStatus(this.#stage.client, id, 'WAITING_FOR_USER');
    assert.equal(planned.status, 'WAITING_FOR_USER', planned.error?.message);
    assert.equal(planned.waitingFor?.kind, 'approval');
    return planned;
  }

  async #planned(id: string, { summary, rows }: Pick<Expected, 'summary' | 'rows'>): Promise<Deployment> {
    const planned = await this.#waiting(id);
    assert.deepEqual(rowsOf(planned), rows);
    assert.deepEqual(planned.planSummary, summary);
    assert.ok(!JSON.stringify(planned).includes(this.#scenario.secret), 'no secret is in the plan');
    return planned;
  }

  /** Approves exactly what was planned. */
  async #approved(id: string, { world }: Pick<Expected, 'world'>): Promise<Deployment> {
    const { client } = this.#stage;
    const { planHash } = await client.call('getDeployment', { params: { id } });
    await client.call('approveDeployment', { params: { id }, body: { planHash } });
    const ended = await this.#ended(id);
    assert.deepEqual(await this.#scenario.world(), world);
    return ended;
  }

  /** Waits for the end, and checks what holds for every deployment. */
  async #ended(id: string, status: Deployment['status'] = 'SUCCESS'): Promise<Deployment> {
    const { client } = this.#stage;
    const ended = await untilEnd(client, id, status);
    const steps = await client.call('listSteps', { params: { deploymentLogId: id } });
    assert.deepEqual(
      steps.map(({ name }) => name),
      deploymentSteps(this.#traveller.type, ended.type),
    );
    const isGood = (step: string | undefined) => step === 'SUCCESS' || step === 'SKIPPED';
    assert.equal(
      steps.every((step) => isGood(step.status)),
      status === 'SUCCESS',
      JSON.stringify(steps),
    );
    const { logs } = await follow(client, id, { signal: AbortSignal.timeout(60_000) });
    for (const [step, log] of logs) assert.ok(!log.includes(this.#scenario.secret), `${step} shows a secret`);
    return ended;
  }

  async #lookForDrift(expected: 'OK' | 'DRIFTED'): Promise<Deployment> {
    const { client } = this.#stage;
    const params = { id: this.#id };
    const { id } = await client.call('deployEnvironment', {
      params,
      body: { deploymentType: 'driftDetection' },
    });
    const ended = await this.#ended(id);
    assert.equal(ended.driftDetected, expected === 'DRIFTED', rowsOf(ended).join('\n'));
    assert.equal((await this.#environment()).driftStatus, expected);
    return ended;
  }

  #environment() {
    return this.#stage.client.call('getEnvironment', { params: { id: this.#id } });
  }

  async #status(): Promise<string> {
    return (await this.#environment()).status;
  }

  #expectOutputs({ output }: Deployment, expected: Readonly<Record<string, unknown>> = {}): void {
    const outputs = Object.entries(outputsByName(output));
    const values = Object.fromEntries(outputs.map(([name, { value }]) => [name, value]));
    for (const [name, value] of Object.entries(expected))
      assert.deepEqual(values[name], value, `output ${name}`);
    if (!this.#promises.hasOutputs) assert.deepEqual(values, {});
  }

  /** Addresses of resources that a deployment has reported. */
  async #reportedResources(id: string): Promise<string[]> {
    const found: string[] = [];
    const signal = AbortSignal.timeout(60_000);
    for await (const event of this.#stage.client.stream('streamDeployment', { params: { id }, signal }))
      if (event.event === 'resource') found.push(event.data.address);
    return found;
  }
}
