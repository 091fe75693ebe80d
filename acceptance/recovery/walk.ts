/**
 * Brings one deployment to each phase of a run, kills one process of each or one that they share, and lets
 * everything continue. Marks outside of any state tell what really happened.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { ApiError } from '#contract/client/client.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { freePort } from '../../tools/suite/free-port.ts';
import type { FamilyTool } from '../family-tools.ts';
import { type FollowedEvents, follow } from '../follow.ts';
import { type GitServer, makeBare, startGitServer } from '../git-server.ts';
import { leaveMark, type Marks, startMarks } from '../marks.ts';
import { createEnvironment, deploy, type Home, homeOf, until, untilEnd, untilStatus } from '../runs.ts';
import {
  makeRepository,
  type RunningService,
  removeScratch,
  scratchFolder,
  startService,
} from '../service.ts';
import { fateOf, type Killed, type Phase, phases } from './law.ts';
import {
  agentPid,
  anotherBoot,
  commandPid,
  databasePid,
  killAll,
  runnerPid,
  sendSignal,
  spooledAttempts,
} from './processes.ts';
import { type SpooledLog, SpooledLogs } from './spooled-logs.ts';

export const secret = 'not-to-be-seen';

const configuration = `variable "place" { type = string }
variable "secret" { type = string }

resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "${leaveMark('${var.place}', 'first')}; echo ${'${var.secret}'}"
  }
}

resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  input      = var.place
  provisioner "local-exec" {
    command = "${leaveMark('${var.place}', 'begin')} && ${leaveMark('${var.place}', 'end')}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "${leaveMark('${self.input}', 'gone')}"
  }
}
`;
const task = `${leaveMark('"$ENVARIUM_TEST_PLACE"', 'task')}\n${leaveMark('"$ENVARIUM_TEST_PLACE"', 'done')}\n`;

/** Waits at a gate before init and plan, then is the real tool: same pid, so that a kill reaches it. */
const gated = (file: string) => `#!/bin/sh
case "$1" in
init | plan) ${leaveMark('"$ENVARIUM_TEST_PLACE"', '"$1"')} ;;
esac
exec ${file} "$@"
`;

/** The mark at whose gate a run waits in a phase. */
const gateOf: Readonly<Partial<Record<Phase, string>>> = {
  init: 'init',
  plan: 'plan',
  planned: 'plan',
  apply: 'begin',
  applied: 'begin',
  destroy: 'gone',
  task: 'task',
};
const gates = ['init', 'plan', 'begin', 'gone', 'task'] as const;
/** Their outcome waits in the spool folder, because the agent is stopped. */
const unsent: readonly Phase[] = ['planned', 'applied'];

/** One deployment that was in a phase when something was killed. */
export interface WalkCell {
  readonly phase: Phase;
  readonly environmentId: string;
  readonly deploymentId: string;
  /** Events that a follower of the deployment since then has received at its end. */
  readonly followed: Promise<FollowedEvents>;
}

/** A walk through all phases in which a process exists. */
export class Walk implements AsyncDisposable {
  readonly #tool: FamilyTool;
  readonly #folder: string;
  readonly #marks: Marks;
  readonly #git: GitServer;
  readonly #checkout: PromiseWithResolvers<void>;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #spooled: SpooledLogs;
  readonly #ended = new AbortController();
  readonly cells = new Map<Phase, WalkCell>();
  #service: RunningService;
  #home: Home | null = null;

  private constructor(
    tool: FamilyTool,
    setup: {
      folder: string;
      marks: Marks;
      git: GitServer;
      settings: Readonly<Record<string, string>>;
      service: RunningService;
      checkout: PromiseWithResolvers<void>;
    },
  ) {
    this.#tool = tool;
    this.#folder = setup.folder;
    this.#marks = setup.marks;
    this.#git = setup.git;
    this.#settings = setup.settings;
    this.#service = setup.service;
    this.#checkout = setup.checkout;
    this.#spooled = new SpooledLogs(join(setup.folder, 'data', 'spool'), join(setup.folder, 'spooled'));
  }

  static async start(tool: FamilyTool): Promise<Walk> {
    const folder = await scratchFolder();
    const programs = join(folder, 'programs');
    await mkdir(programs);
    await writeFile(join(programs, tool.program), gated(tool.file), { mode: 0o755 });
    const checkout = Promise.withResolvers<void>();
    const git = await startGitServer({
      root: join(folder, 'bare'),
      user: 'reader',
      password: secret,
      ready: checkout.promise,
    });
    const settings = {
      PATH: [programs, process.env.PATH].join(delimiter),
      ENVARIUM_BOOTSTRAP_API_SECRET: 'a'.repeat(43),
      ENVARIUM_AGENT_CONCURRENCY: String(Object.keys(phases).length + 2),
      ENVARIUM_GIT_HTTP_HOSTS: git.host,
      ENVARIUM_HEARTBEAT_SECONDS: '1',
      ENVARIUM_ABORT_SECONDS: '5',
      ENVARIUM_LOG_LEVEL: 'warn',
      // The same after each start, so that those who follow find it again.
      ENVARIUM_PORT: String(await freePort()),
    };
    const [marks, service] = await Promise.all([startMarks(gates), startService({ folder, settings })]);
    return new Walk(tool, { folder, marks, git, settings, service, checkout });
  }

  get service(): RunningService {
    return this.#service;
  }

  /** Changes to the world for a deployment, in their order. */
  deedsOf(phase: Phase): string[] {
    return this.#marks.of(phase).filter((mark) => mark !== 'init' && mark !== 'plan');
  }

  /** Number of times that a mark was left. */
  countOf(phase: Phase, mark: string): number {
    return this.#marks.of(phase).filter((each) => each === mark).length;
  }

  /** Brings deployments to their phases, kills, and lets everything continue to its end. */
  async kill(killed: Killed): Promise<void> {
    const wanted = (Object.keys(phases) as Phase[]).filter((phase) => fateOf(phase, killed) !== null);
    this.#home = await homeOf(this.#service.client);
    // The one at init comes alone: others would reuse its result, or it theirs.
    const early: readonly Phase[] = wanted.filter((phase) => phase === 'checkout' || phase === 'init');
    for (const phase of early) await this.#bringTo(phase);
    const later = wanted.filter((phase) => phase !== 'claim' && !early.includes(phase));
    await Promise.all(later.map((phase) => this.#bringTo(phase)));
    const agent = await agentPid(this.#service);
    sendSignal(agent, 'SIGSTOP');
    this.#spooled.look();
    if (wanted.includes('claim')) await this.#bringTo('claim');
    await this.#endUnsent(wanted.filter((phase) => unsent.includes(phase)));
    await this.#killIn(wanted, killed, agent);
    const isOver = (phase: Phase) => fateOf(phase, killed)?.ends !== 'SUCCESS';
    // Deployments that are over end although their gate stays closed.
    for (const phase of wanted.filter((each) => !isOver(each))) this.#openGates(phase);
    const approval = this.cells.get('approval');
    if (approval !== undefined) await this.#approve(approval);
    for (const cell of this.cells.values()) await this.#untilEnd(cell);
    for (const phase of wanted) this.#openGates(phase);
  }

  deploymentOf({ deploymentId }: WalkCell): Promise<Deployment> {
    return this.#service.client.call('getDeployment', { params: { id: deploymentId } });
  }

  /** The same code once more, however the first deployment ended. */
  async deployAgain({ environmentId }: WalkCell): Promise<Deployment> {
    const { client } = this.#service;
    const { id } = await deploy(client, environmentId);
    return untilEnd(client, id);
  }

  /** Output of each attempt of a deployment, in their order. */
  spooledOf({ deploymentId }: WalkCell): SpooledLog[] {
    return this.#spooled.of(deploymentId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#spooled[Symbol.dispose]();
    await this.#service.stop();
    await this.#marks[Symbol.asyncDispose]();
    await this.#git[Symbol.asyncDispose]();
    await removeScratch(this.#folder);
  }

  async #bringTo(phase: Phase): Promise<void> {
    const place = this.#marks.addressOf(phase);
    const gate = gateOf[phase];
    for (const mark of gates.filter((each) => each !== gate)) this.#marks.open(phase, mark);
    const repository = await makeRepository(this.#folder, phase, { 'main.tf': configuration });
    if (phase === 'checkout') await this.#serveSlowly(repository.path);
    const { id, deploymentId } = await createEnvironment(this.#service.client, this.#home!, {
      name: phase,
      type: this.#tool.type,
      repository:
        phase === 'checkout' ? `http://reader:${secret}@${this.#git.host}/checkout.git` : repository.path,
      requiresApproval: phase === 'approval',
      configurationChanges: [
        { name: 'place', value: place, type: 1 },
        { name: 'secret', value: secret, type: 1, isSensitive: true },
        { name: 'ENVARIUM_TEST_PLACE', value: place, type: 0 },
      ],
    });
    const last = await this.#lastDeployment(phase, id, deploymentId);
    const followed = follow(this.#service.client, last, { signal: this.#ended.signal });
    // Reported by the test that compares it.
    followed.catch(() => undefined);
    this.cells.set(phase, { phase, environmentId: id, deploymentId: last, followed });
    if (phase === 'approval') await untilStatus(this.#service.client, deploymentId, 'WAITING_FOR_USER');
    if (phase === 'checkout')
      await until('the checkout', () => this.#git.requests.some(({ path }) => path.startsWith('/checkout')));
    if (gate !== undefined) await until(`the gate of ${phase}`, () => this.countOf(phase, gate) > 0);
  }

  /** A destroy and a task need something that was deployed before. */
  async #lastDeployment(phase: Phase, id: string, deploymentId: string): Promise<string> {
    if (phase !== 'destroy' && phase !== 'task') return deploymentId;
    const { client } = this.#service;
    await untilEnd(client, deploymentId);
    const params = { id };
    const more =
      phase === 'destroy'
        ? await client.call('destroyEnvironment', { params, body: {} })
        : await client.call('deployEnvironment', {
            params,
            body: { deploymentType: 'task', taskPayload: task },
          });
    return more.id;
  }

  async #serveSlowly(path: string): Promise<void> {
    await mkdir(join(this.#folder, 'bare'));
    await makeBare(path, join(this.#folder, 'bare', 'checkout.git'));
  }

  #openGates(phase: Phase): void {
    for (const mark of gates) this.#marks.open(phase, mark);
    if (phase === 'checkout') this.#checkout.resolve();
  }

  /** While the agent is stopped, the runners end their attempts. */
  async #endUnsent(ending: readonly Phase[]): Promise<void> {
    for (const phase of ending) this.#openGates(phase);
    for (const phase of ending) {
      const { environmentId } = this.cells.get(phase)!;
      const wanted = phase === 'planned' ? 'plan' : 'apply';
      await until(`the outcome of ${phase}`, async () =>
        (await spooledAttempts(this.#service)).some(
          (each) => each.environmentId === environmentId && each.phase === wanted && each.hasOutcome,
        ),
      );
    }
  }

  async #killIn(wanted: readonly Phase[], killed: Killed, agent: number): Promise<void> {
    switch (killed) {
      case 'server':
        await this.#end(() => this.#service.process.kill('SIGKILL'));
        sendSignal(agent, 'SIGCONT');
        return this.#restart();
      case 'agent':
        return sendSignal(agent, 'SIGKILL');
      case 'database':
        sendSignal(await databasePid(this.#service), 'SIGKILL');
        return sendSignal(agent, 'SIGCONT');
      case 'machine':
        await this.#end(() => void killAll(this.#service.process.pid ?? 0));
        return this.#restart(await anotherBoot(this.#folder));
      default:
        for (const phase of wanted) sendSignal(await this.#pidIn(phase, killed), 'SIGKILL');
        return sendSignal(agent, 'SIGCONT');
    }
  }

  async #end(kill: () => void): Promise<void> {
    const gone = new Promise((resolve) => this.#service.process.once('exit', resolve));
    kill();
    await gone;
  }

  async #restart(around: readonly string[] = []): Promise<void> {
    this.#service = await startService({ folder: this.#folder, settings: this.#settings, around });
  }

  async #pidIn(phase: Phase, killed: 'runner' | 'tool'): Promise<number> {
    const { environmentId } = this.cells.get(phase)!;
    if (killed === 'tool') return commandPid(this.#service, environmentId, this.#commandIn(phase));
    if (!unsent.includes(phase)) return runnerPid(this.#service, environmentId);
    const attempts = await spooledAttempts(this.#service);
    const found = attempts.find((each) => each.environmentId === environmentId && each.hasOutcome);
    return found?.runnerPid ?? Number.NaN;
  }

  #commandIn(phase: Phase): RegExp {
    const { program } = this.#tool;
    switch (phase) {
      case 'checkout':
        return /git .*clone/;
      case 'task':
        return /sh .*task/;
      case 'apply':
      case 'destroy':
        return new RegExp(`${program} apply`);
      default:
        return new RegExp(`${program} ${phase}`);
    }
  }

  async #approve({ deploymentId }: WalkCell): Promise<void> {
    const { client } = this.#service;
    // The database may be starting again.
    await until('the approval', () =>
      client.call('approveDeployment', { params: { id: deploymentId } }).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 503) return null;
        throw error;
      }),
    );
  }

  async #untilEnd(cell: WalkCell): Promise<void> {
    await until(`the end of ${cell.phase}`, async () => {
      // The service may be starting again.
      const found = await this.deploymentOf(cell).catch(() => null);
      return found !== null && isTerminal(found.status);
    });
  }
}
