/** The programs of a test's cluster: etcd, the API server and the controllers, on ports of this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findOnPath } from '#guards/find-on-path.ts';
import { freePort } from '../../../tools/suite/free-port.ts';
import { toolboxProgram } from '../../../tools/toolbox/places.ts';
import { makeAuthority } from '../certificates.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { type Access, kubeconfigText } from './identities.ts';

const startMilliseconds = 120_000;
const pollMilliseconds = 25;
const mostAttempts = 3;
/** Issuer of tokens of service accounts; also their audience. */
export const tokenIssuer = 'https://cluster.test';

export interface ControlPlane extends AsyncDisposable {
  readonly url: string;
  /** The certificate of the API server's authority. */
  readonly ca: string;
  /** Of a user who may do everything. */
  readonly adminToken: string;
  /** Signs tokens of service accounts. */
  readonly signingKey: string;
  /** A folder of the cluster's own, which its end removes. */
  readonly folder: string;
  readonly api: ApiClient;
  readonly processIds: readonly number[];
  /**
   * Waits for a condition.
   * @throws Error with the last lines of the programs, once one has ended or after two minutes
   */
  until(what: string, condition: () => Promise<boolean>): Promise<void>;
}

/** Programs that write to files of one folder, and die with this process. */
class Programs implements AsyncDisposable {
  readonly #running = new Map<string, ChildProcess>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get processIds(): readonly number[] {
    return Array.from(this.#running.values(), ({ pid }) => pid ?? 0);
  }

  start(name: string, program: string, flags: Readonly<Record<string, string>>): void {
    const output = openSync(join(this.#folder, `${name}.log`), 'a', 0o600);
    const setpriv = findOnPath('setpriv');
    const launcher = setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    const [file, ...before] = [...launcher, program];
    const child = spawn(file, [...before, ...args], { cwd: this.#folder, stdio: ['ignore', output, output] });
    closeSync(output);
    this.#running.set(name, child);
  }

  async until(what: string, condition: () => Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + startMilliseconds; ; await delay(pollMilliseconds)) {
      if (await condition().catch(() => false)) return;
      const ended = Array.from(this.#running).find(([, child]) => hasEnded(child));
      if (ended !== undefined) throw new Error(`${ended[0]} has ended before ${what}:\n${this.#lastLines()}`);
      if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}:\n${this.#lastLines()}`);
    }
  }

  #lastLines(): string {
    const logs = Array.from(this.#running.keys(), (name) => {
      const lines = readFileSync(join(this.#folder, `${name}.log`), 'utf8')
        .trimEnd()
        .split('\n');
      return [`${name}:`, ...lines.slice(-12).map((line) => `  ${line.slice(0, 400)}`)];
    });
    return logs.flat().join('\n');
  }

  /** Ends them at once: nothing that they keep is needed again. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      Array.from(this.#running.values(), async (child) => {
        if (hasEnded(child)) return;
        const ended = once(child, 'exit');
        if (child.kill('SIGKILL')) await ended;
      }),
    );
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** @throws Error that says what the programs wrote, where one does not start */
export async function startControlPlane(): Promise<ControlPlane> {
  for (let attempt = 1; ; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    const programs = new Programs(folder);
    try {
      return await start(folder, programs);
    } catch (error) {
      await programs[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
      // A port that was free may be taken by another process in the meantime.
      if (attempt === mostAttempts || !/address already in use/.test(String(error))) throw error;
    }
  }
}

async function start(folder: string, programs: Programs): Promise<ControlPlane> {
  const at = (name: string) => join(folder, name);
  const etcd = await startEtcd(folder, programs);
  const ca = readFileSync(makeAuthority(folder).file, 'utf8');
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  });
  writeFileSync(at('accounts.key'), privateKey, { mode: 0o600 });
  const adminToken = randomBytes(32).toString('hex');
  writeFileSync(at('tokens.csv'), `${adminToken},test-admin,1,system:masters\n`, { mode: 0o600 });
  const port = await freePort();
  const access: Access = { url: `https://127.0.0.1:${port}`, ca, token: adminToken };
  const api = apiClient(access.url, ca, adminToken);
  programs.start('kube-apiserver', requireTool('kube-apiserver'), apiServerFlags(folder, port, etcd));
  await programs.until('the API answers', async () => (await api.send('GET', '/readyz')).status === 200);
  writeFileSync(at('controllers.yaml'), kubeconfigText(access), { mode: 0o600 });
  programs.start('kube-controller-manager', requireTool('kube-controller-manager'), controllerFlags(folder));
  return {
    ...{ url: access.url, ca, adminToken, signingKey: privateKey, folder, api },
    processIds: programs.processIds,
    until: (what, condition) => programs.until(what, condition),
    async [Symbol.asyncDispose]() {
      api[Symbol.dispose]();
      await programs[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function requireTool(name: 'kube-apiserver' | 'kube-controller-manager'): string {
  const program = toolboxProgram(name);
  if (program === null) throw new Error(`${name} is not built: "npm run toolbox -- ${name}"`);
  return program;
}

async function startEtcd(folder: string, programs: Programs): Promise<string> {
  const program = findOnPath('etcd');
  if (program === null) throw new Error('etcd is not on the PATH: install it (package "etcd-server")');
  const url = `http://127.0.0.1:${await freePort()}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  programs.start('etcd', program, {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
    'unsafe-no-fsync': 'true',
    'log-level': 'warn',
  });
  await programs.until('etcd answers', async () => (await fetch(`${url}/health`)).ok);
  return url;
}

function apiServerFlags(folder: string, port: number, etcd: string): Record<string, string> {
  const at = (name: string) => join(folder, name);
  return {
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(port),
    'tls-cert-file': at('server.pem'),
    'tls-private-key-file': at('server.key'),
    // It would enter its own address, and refuses one of this machine only.
    'endpoint-reconciler-type': 'none',
    'service-cluster-ip-range': '10.96.0.0/16',
    'authorization-mode': 'RBAC',
    'token-auth-file': at('tokens.csv'),
    'service-account-issuer': tokenIssuer,
    'service-account-key-file': at('accounts.key'),
    'service-account-signing-key-file': at('accounts.key'),
    'enable-priority-and-fairness': 'false',
    profiling: 'false',
  };
}

function controllerFlags(folder: string): Record<string, string> {
  const at = (name: string) => join(folder, name);
  return {
    kubeconfig: at('controllers.yaml'),
    'service-account-private-key-file': at('accounts.key'),
    'root-ca-file': at('ca.pem'),
    'leader-elect': 'false',
    'secure-port': '0',
    'kube-api-qps': '500',
    'kube-api-burst': '1000',
    profiling: 'false',
  };
}
