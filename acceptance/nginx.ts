/** A real nginx in front of a service, as docs/operate/running.md describes it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { until } from './runs.ts';

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined));
    socket.on('error', () => resolve(false));
  });
}

/**
 * Starts nginx and waits until it accepts connections.
 * @param folder for its own files
 * @param port at which the servers listen
 * @param servers their blocks of the configuration
 */
export async function startNginx(folder: string, port: number, servers: string): Promise<AsyncDisposable> {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const configuration = join(folder, 'nginx.conf');
  await writeFile(
    configuration,
    `daemon off;\npid ${join(folder, 'pid')};\nevents {}\nhttp {\naccess_log off;\n${paths.join('\n')}\n${servers}}\n`,
  );
  const proxy = spawn('nginx', ['-p', folder, '-e', join(folder, 'errors'), '-c', configuration], {
    stdio: 'ignore',
  });
  await until('the proxy', () => accepts(port));
  return {
    async [Symbol.asyncDispose]() {
      proxy.kill('SIGTERM');
      if (proxy.exitCode === null) await once(proxy, 'exit');
    },
  };
}
