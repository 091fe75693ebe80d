/** For tests: repositories in a folder from which the service may read. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { disposeAtEnd } from './database.ts';

/** A text is a file, an object with `link` a symbolic link. */
export type RepositoryFiles = Readonly<Record<string, string | { readonly link: string }>>;

export interface GitRepository {
  readonly path: string;
  git(...args: string[]): string;
  /** @returns the id of the new commit */
  commit(files: RepositoryFiles): string;
}

export interface GitFolder extends Disposable {
  readonly path: string;
  repository(name: string, files: RepositoryFiles): GitRepository;
}

const environment = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

function makeRepository(path: string, files: RepositoryFiles): GitRepository {
  mkdirSync(path, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', path, ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: environment,
    }).trim();
  const commit = (changed: RepositoryFiles) => {
    for (const [name, content] of Object.entries(changed)) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      if (typeof content === 'string') writeFileSync(file, content);
      else symlinkSync(content.link, file);
      git('add', '--', name);
    }
    git('commit', '-q', '--allow-empty', '-m', 'change');
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q', '-b', 'main');
  commit(files);
  return { path, git, commit };
}

/** A new folder for repositories; its path is for ENVARIUM_GIT_LOCAL_PATHS. */
export function gitFolder(): GitFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'repositories-')));
  return {
    path,
    repository: (name, files) => makeRepository(join(path, name), files),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Another service of the inner network, to which git must not be led: it counts who comes, and hangs up. */
export async function innerService() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  disposeAtEnd({ [Symbol.asyncDispose]: async () => void server.close() });
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => connections };
}
