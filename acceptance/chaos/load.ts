/**
 * Load from people: each environment is deployed, changed, destroyed, gets tasks and is aborted, one deployment
 * after the other or two at once, until enough of them have run. Each deployment is audited after its end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Client } from '#contract/client/client.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { FamilyTool } from '../family-tools.ts';
import { assertSameLogs, type FollowedEvents, follow } from '../follow.ts';
import { leaveMark, type Marks } from '../marks.ts';
import { createEnvironment, homeOf, streamedLogs } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { auditDeployment, type Items, itemsOf, type Kind, markOf } from './audit.ts';
import type { Installation, Kill } from './installation.ts';
import type { Random } from './random.ts';

export const secret = 'not-to-be-seen-anywhere';
const patienceMilliseconds = 180_000;
const callMilliseconds = 20_000;
const pauseMilliseconds = 100;

const configuration = `variable "place" { type = string }
variable "number" { type = string }
variable "secret" {
  type      = string
  sensitive = true
}

resource "terraform_data" "item" {
  input            = { place = var.place, number = var.number }
  triggers_replace = [var.number]
  provisioner "local-exec" {
    command     = "echo $SECRET; ${leaveMark('${var.place}', markOf.created('${var.number}'))}"
    environment = { SECRET = nonsensitive(var.secret) }
  }
  provisioner "local-exec" {
    when    = destroy
    command = "${leaveMark('${self.input.place}', markOf.removed('${self.input.number}'))}"
  }
}
`;

/** Request of a person, up to its end. */
export interface Requested {
  readonly kind: Kind;
  readonly number: number;
  status: Deployment['status'];
  /** The newest one that has begun. */
  step: string;
}

/** End of a deployment, and whether that agrees with the law. */
export interface Ending {
  readonly status: Deployment['status'];
  readonly isRight: boolean;
}

/** View of an environment while it runs. */
export interface PlaceView {
  readonly name: string;
  readonly tool: string;
  readonly id: string;
  readonly requested: Requested | null;
  readonly endings: readonly Ending[];
}

export interface LoadOptions {
  readonly installation: Installation;
  readonly marks: Marks;
  readonly tool: FamilyTool;
  readonly name: string;
  readonly needsApproval: boolean;
  readonly random: Random;
  readonly kills: readonly Kill[];
  /** Takes one of the deployments that are to run; false: there are enough. */
  readonly takeRun: () => boolean;
  readonly complain: (complaint: string) => void;
}

/** A deployment that was requested and followed from then on. */
interface Begun {
  readonly requested: Requested;
  readonly id: string;
  readonly startedAt: number;
  readonly following: Promise<FollowedEvents | Error>;
  /** When a person aborts it, in milliseconds after its start; null: no one does. */
  readonly abortAfter: number | null;
}

/** One environment and its people. */
export class Place implements PlaceView {
  readonly #options: LoadOptions;
  readonly #ids: string[] = [];
  readonly endings: Ending[] = [];
  requested: Requested | null = null;
  #id = '';
  #items: Items = new Map();
  #next = 1;
  /** The item that the last deployment left, if it succeeded. */
  #settled: number | null = null;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get tool(): string {
    return this.#options.tool.type;
  }

  get id(): string {
    return this.#id;
  }

  /** Runs until there is enough, then compares the list of deployments with what was requested. */
  async run(): Promise<void> {
    const { takeRun, random } = this.#options;
    while (takeRun()) {
      const isPair = random.chance(0.1) && takeRun();
      const first = await this.#begin(this.#chooseKind());
      // The second one waits for the first, in the queue.
      const second = isPair ? await this.#begin('deploy') : null;
      await this.#end(first);
      if (second !== null) await this.#end(second);
    }
    await this.#checkList();
  }

  get #client(): Client {
    return this.#options.installation.client;
  }

  /** To be called before anything is killed. */
  async create(): Promise<void> {
    const { installation, name, tool, marks, needsApproval } = this.#options;
    const { path } = await makeRepository(installation.folder, name, { 'main.tf': configuration });
    const place = marks.addressOf(name);
    const { id } = await createEnvironment(this.#client, await homeOf(this.#client), {
      name,
      type: tool.type,
      repository: path,
      requiresApproval: needsApproval,
      preventAutoDeploy: true,
      configurationChanges: [
        { name: 'place', value: place, type: 1 },
        { name: 'number', value: '0', type: 1 },
        { name: 'secret', value: secret, type: 1, isSensitive: true },
        { name: 'PLACE', value: place, type: 0 },
      ],
    });
    this.#id = id;
  }

  #chooseKind(): Kind {
    const { random } = this.#options;
    if (this.#items.size === 0) return 'deploy';
    if (this.#settled === null) return random.pick(['deploy', 'deploy', 'task', 'destroy'] as const);
    return random.pick(['deploy', 'deploy', 'deploy', 'same', 'task', 'destroy'] as const);
  }

  async #begin(kind: Kind): Promise<Begun> {
    const { random } = this.#options;
    const number = kind === 'same' ? this.#settled! : this.#next++;
    const requested: Requested = { kind, number, status: 'QUEUED', step: '' };
    this.requested ??= requested;
    const startedAt = Date.now();
    const id = await this.#request(kind, number);
    this.#ids.push(id);
    const signal = AbortSignal.timeout(2 * patienceMilliseconds);
    const onStep = (step: string) => {
      requested.step = step;
    };
    const following = follow(this.#client, id, { signal, onStep }).catch((error: unknown) => error as Error);
    const abortAfter = random.chance(0.04) ? random.below(1500) : null;
    return { requested, id, startedAt, following, abortAfter };
  }

  /** The same request is sent until it is answered: its key keeps it from being carried out twice. */
  async #request(kind: Kind, number: number): Promise<string> {
    const params = { id: this.#id };
    const idempotencyKey = randomUUID();
    const { id } = await this.#patiently((signal) => {
      const common = { params, idempotencyKey, signal };
      if (kind === 'destroy') return this.#client.call('destroyEnvironment', { ...common, body: {} });
      const task = `${leaveMark('"$PLACE"', markOf.task(number))}\n`;
      const body =
        kind === 'task'
          ? { deploymentType: 'task' as const, taskPayload: task }
          : { configurationChanges: [{ name: 'number', value: String(number), type: 1 as const }] };
      return this.#client.call('deployEnvironment', { ...common, body });
    });
    return id;
  }

  async #end(begun: Begun): Promise<void> {
    const { complain, kills, marks, name } = this.#options;
    const { requested, id, startedAt } = begun;
    this.requested = requested;
    const deployment = await this.#untilEnd(begun);
    const before = this.#items;
    const { stateVersionId } = deployment;
    if (stateVersionId !== undefined) this.#items = await this.#itemsAt(stateVersionId);
    const complaints = auditDeployment(
      {
        kind: requested.kind,
        number: requested.number,
        deployment,
        before,
        after: this.#items,
        wasAborted: begun.abortAfter !== null,
        kills: kills
          .filter(({ at }) => at >= startedAt)
          .filter(({ environmentId }) => environmentId === 'all' || environmentId === this.#id)
          .map(({ victim }) => victim),
      },
      marks.of(name),
    );
    complaints.push(...(await this.#auditLog(begun, deployment)));
    for (const complaint of complaints)
      complain(`${name}, ${requested.kind} ${requested.number} (${id}): ${complaint}`);
    this.endings.push({ status: deployment.status, isRight: complaints.length === 0 });
    const [item, ...others] = [...this.#items].filter(([, isTainted]) => !isTainted);
    const isSettled = deployment.status === 'SUCCESS' && item !== undefined && others.length === 0;
    if (requested.kind !== 'task' || deployment.status !== 'SUCCESS')
      this.#settled = isSettled ? item[0] : null;
  }

  /** Approves and aborts while it waits, as far as it is due. @throws Error if it does not end */
  async #untilEnd({ requested, id, startedAt, abortAfter }: Begun): Promise<Deployment> {
    let isAborted = false;
    const params = { id };
    for (;;) {
      const deployment = await this.#patiently((signal) =>
        this.#client.call('getDeployment', { params, signal }),
      );
      requested.status = deployment.status;
      if (isTerminal(deployment.status)) return deployment;
      if (deployment.status === 'WAITING_FOR_USER')
        await this.#unlessOver((signal) => this.#client.call('approveDeployment', { params, signal }));
      if (!isAborted && abortAfter !== null && Date.now() > startedAt + abortAfter) {
        isAborted = true;
        await this.#unlessOver((signal) => this.#client.call('abortDeployment', { params, signal }));
      }
      if (Date.now() > startedAt + 2 * patienceMilliseconds)
        throw new Error(
          `${this.name}: the ${requested.kind} ${requested.number} (${id}) is stuck in ${deployment.status}: ${JSON.stringify(deployment.waitingFor)}`,
        );
      await delay(pauseMilliseconds);
    }
  }

  async #itemsAt(id: string): Promise<Items> {
    const content = await this.#patiently((signal) =>
      this.#client.bytes('getStateContent', { params: { id }, signal }),
    );
    return itemsOf(content);
  }

  /** Followers have received what is stored, without gaps or duplicates. */
  async #auditLog({ id, following }: Begun, { status }: Deployment): Promise<string[]> {
    const followed = await following;
    if (followed instanceof Error) return [`following it failed: ${followed.message}`];
    try {
      const stored = await this.#patiently(() => streamedLogs(this.#client, id));
      assertSameLogs(followed.logs, stored, 'the follower');
      const complaints = followed.end === status ? [] : [`the follower saw the end ${followed.end}`];
      if ([...stored.values()].some((log) => log.includes(secret))) complaints.push('its log has the secret');
      return complaints;
    } catch (error) {
      return [(error as Error).message];
    }
  }

  /** None is lost, and none was started twice. */
  async #checkList(): Promise<void> {
    const listed: string[] = [];
    for (;;) {
      const page = await this.#patiently((signal) =>
        this.#client.call('listDeployments', {
          params: { id: this.#id },
          query: { limit: 100, offset: listed.length },
          signal,
        }),
      );
      listed.push(...page.map(({ id }) => id ?? ''));
      if (page.length < 100) break;
    }
    const { name, complain } = this.#options;
    const [lost, extra] = [
      this.#ids.filter((id) => !listed.includes(id)),
      listed.filter((id) => !this.#ids.includes(id)),
    ];
    if (lost.length > 0) complain(`${name}: lost deployments: ${lost.join()}`);
    if (extra.length > 0) complain(`${name}: deployments that no one requested: ${extra.join()}`);
  }

  /** Repeats a call while the service is away. */
  async #patiently<Reply>(call: (signal: AbortSignal) => Promise<Reply>): Promise<Reply> {
    const deadline = Date.now() + patienceMilliseconds;
    for (;;) {
      try {
        return await call(AbortSignal.timeout(callMilliseconds));
      } catch (error) {
        if (!isTemporary(error) || Date.now() > deadline) throw error;
        await delay(pauseMilliseconds);
      }
    }
  }

  /** The same for what may have happened already, or can no longer happen. */
  async #unlessOver(call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    await this.#patiently(call).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    });
  }
}

/** Whether a service that is being started again may have caused it. */
function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 0 || error.status === 503;
  const { name, message } = error as Error;
  return name === 'TimeoutError' || message === 'terminated' || message === 'fetch failed';
}
