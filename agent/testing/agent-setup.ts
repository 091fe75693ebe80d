/** For tests: the agent's real program, with the server's side of the protocol in memory. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { approvedHash } from '#protocol/approved.ts';
import type { Job } from '#protocol/messages/job.ts';
import { Secret } from '#settings/secret.ts';
import { agentProgram } from '../../tools/programs/built-programs.ts';
import { slotUidBase } from '../../tools/programs/slot-uid-base.ts';
import { until } from '../../tools/suite/until.ts';
import { connectToServer } from '../src/connection/connection.ts';
import { prepareAttempt } from '../src/held/prepare-attempt.ts';
import { identifyProcess, isAlive, type ProcessIdentity, signalProcess } from '../src/processes/proc.ts';
import { attemptFolderName, type SpoolPaths, spoolPaths } from '../src/spool/layout.ts';
import { readRunner } from '../src/spool/read-attempt.ts';
import { ProtocolServer, type ServedAttempt } from './protocol-server.ts';

export interface StartedAgent {
  readonly child: ChildProcess;
  /** Everything that it has logged so far. */
  log(): string;
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export class AgentSetup {
  readonly folder: string;
  readonly server = new ProtocolServer();
  readonly repository: string;
  #url = '';
  #number = 0;
  readonly #agents: ChildProcess[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.repository = join(folder, 'repositories', 'code');
  }

  /** A new folder, a repository with these files, and a server; all removed after the test. */
  static async create(t: TestContext, files: Record<string, string>): Promise<AgentSetup> {
    const folder = mkdtempSync(join(tmpdir(), 'agent-'));
    chmodSync(folder, 0o711);
    const setup = new AgentSetup(folder);
    mkdirSync(setup.repository, { recursive: true });
    setup.#git('init', '-q', '-b', 'main');
    setup.commit(files);
    writeFileSync(join(folder, 'secret'), 'agent-secret', { mode: 0o600 });
    setup.#url = await setup.server.listen();
    t.after(() => setup.#close());
    return setup;
  }

  get workFolder(): string {
    return join(this.folder, 'work');
  }

  get spoolFolder(): string {
    return join(this.folder, 'spool');
  }

  spool(job: Pick<Job, 'jobId' | 'attempt'>): SpoolPaths {
    return spoolPaths(join(this.spoolFolder, 'attempts', attemptFolderName(job.jobId, job.attempt)));
  }

  /** The attempts that have a folder. */
  spooled(): string[] {
    const folder = join(this.spoolFolder, 'attempts');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  startAgent(settings: Record<string, string> = {}): StartedAgent {
    const child = spawn(process.execPath, [agentProgram], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: join(tmpdir(), 'agent-setup-cache'),
        ENVARIUM_URL: this.#url,
        ENVARIUM_AGENT_KEY: 'agent-key',
        ENVARIUM_AGENT_SECRET_FILE: join(this.folder, 'secret'),
        ENVARIUM_SPOOL_DIR: this.spoolFolder,
        ENVARIUM_WORK_DIR: this.workFolder,
        ENVARIUM_AGENT_CONCURRENCY: '1',
        ENVARIUM_SLOT_UID_BASE: slotUidBase(),
        ...settings,
      },
    });
    this.#agents.push(child);
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    return { child, ended, log: () => log, kill: (signal) => (child.kill(signal), ended) };
  }

  job(changes: Partial<Job> = {}): Job {
    const number = ++this.#number;
    return {
      jobId: `job-${number}`,
      attempt: 1,
      fence: number,
      phase: 'plan',
      deploymentId: `deployment-${number}`,
      environmentId: `environment-${number}`,
      organizationId: 'organization',
      projectId: 'project',
      type: 'deploy',
      tool: 'terraform',
      workspaceName: 'test-one',
      source: { repository: this.repository, httpHosts: [], localPaths: [dirname(this.repository)] },
      variables: { environment: [], terraform: [] },
      systemVariables: {},
      targets: [],
      skipStateRefresh: false,
      state: { isForced: false },
      secrets: [],
      limits: {
        runSeconds: 120,
        abortSeconds: 5,
        offlineGraceSeconds: 60,
        stepLogBytes: 1_000_000_000,
        travelBytes: 100_000_000,
      },
      ...changes,
    };
  }

  /** A claimed attempt whose folder is on disk, and which nothing has started. */
  async claimElsewhere(job: Job): Promise<void> {
    this.server.add(job);
    await prepareAttempt({
      connection: connectToServer({
        urls: [this.#url],
        agentKey: 'agent-key',
        agentSecret: new Secret('agent-secret'),
        log: { info: () => {}, warn: () => {} },
      }),
      attemptsFolder: join(this.spoolFolder, 'attempts'),
      workFolder: this.workFolder,
      slotUid: null,
      job,
      signal: new AbortController().signal,
    });
  }

  /** The apply of a plan, immediately or after an approval. */
  applyJob(planned: ServedAttempt, continues: boolean): Job {
    const { job, outcome } = planned;
    const parts = outcome?.approvedParts;
    if (!parts) throw new Error(`nothing was planned: ${JSON.stringify(outcome)}`);
    return {
      ...this.job(),
      deploymentId: job.deploymentId,
      environmentId: job.environmentId,
      variables: job.variables,
      secrets: job.secrets,
      state: job.state,
      source: job.source,
      phase: 'apply',
      workFolder: this.workFolder,
      approved: {
        hash: approvedHash(parts),
        parts,
        ...(continues ? { continues: { jobId: job.jobId, attempt: job.attempt, fence: job.fence } } : {}),
      },
    };
  }

  /** Waits for a condition. */
  async until(condition: () => boolean, what: string): Promise<void> {
    await until(what, condition, 30);
  }

  async outcomeOf(job: Pick<Job, 'jobId' | 'attempt'>): Promise<ServedAttempt> {
    await this.until(() => this.server.attempt(job)?.outcome != null, `an outcome of ${job.jobId}`);
    return this.server.attempt(job) as ServedAttempt;
  }

  async #close(): Promise<void> {
    const agents = this.#agents.filter(
      (child) => child.exitCode === null && child.signalCode === null && child.pid !== undefined,
    );
    // Runners without an order end with their agent, and then write their compile cache.
    const runners = agents.flatMap((child) => childrenOf(child.pid ?? 0));
    for (const child of agents) child.kill('SIGKILL');
    for (const name of this.spooled()) {
      const runner = readRunner(spoolPaths(join(this.spoolFolder, 'attempts', name)));
      if (runner) signalProcess(runner, 'SIGKILL');
    }
    await this.server[Symbol.asyncDispose]();
    await this.until(() => !runners.some(isAlive), 'the end of all runners');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Commits files to the repository. */
  commit(files: Record<string, string>): void {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(this.repository, name), content);
    this.#git('add', '-A');
    this.#git('commit', '-q', '--allow-empty', '-m', 'files');
  }

  #git(...args: string[]): void {
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', this.repository, ...args], {
      stdio: 'pipe',
    });
  }
}

function childrenOf(pid: number): ProcessIdentity[] {
  const parentOf = (name: string): string | undefined => {
    try {
      return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1];
    } catch {
      return undefined;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === String(pid))
    .map(Number)
    .map(identifyProcess)
    .filter((one) => one !== null);
}
