/** For tests: a server of the interfaces of AWS (moto), where the machine has one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { findOnPath } from '#guards/find-on-path.ts';
import { freePort } from '../../../tools/suite/free-port.ts';
import { pythonProgram, skipUnlessRequired } from '../../../tools/toolbox/places.ts';

const program = 'moto_server';
const startSeconds = 60;

function find(): string | null {
  return pythonProgram('moto') ?? findOnPath(program);
}

/** Options of a test that needs the server. @throws Error where `TOOLBOX_REQUIRED` is set and it is missing */
export function withAwsServer(): { skip: string | false } {
  if (find() !== null) return { skip: false };
  return skipUnlessRequired(`needs ${program}: "npm run toolbox -- moto" installs it from PyPI`);
}

/**
 * The header of a signed request: the server checks no signature, but reads from it which service is meant.
 * @param scope `<key id>/<date>/<region>/<service>/aws4_request`
 */
export function authorizationFor(scope: string): string {
  return `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
}

export interface AwsServer extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** The usual variables of AWS for a client of the server. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes an EKS cluster in its region. */
  makeCluster(name: string): Promise<void>;
}

/** Starts a server on a free port; it keeps everything in memory. */
export async function startAwsServer(): Promise<AwsServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(find() ?? program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  for (const deadline = Date.now() + startSeconds * 1000; ; await delay(50)) {
    const isReady = await fetch(`${url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${program} does not start`);
  }
  return {
    url,
    environment: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'testing',
      AWS_SECRET_ACCESS_KEY: 'testing',
    },
    async makeCluster(name) {
      const { ok, status } = await fetch(`${url}/clusters`, {
        method: 'POST',
        headers: {
          authorization: authorizationFor('key/20260101/eu-west-1/eks/aws4_request'),
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          name,
          roleArn: 'arn:aws:iam::123456789012:role/cluster',
          resourcesVpcConfig: { subnetIds: ['subnet-1', 'subnet-2'] },
        }),
      });
      if (!ok) throw new Error(`The cluster was not made: ${status}`);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
