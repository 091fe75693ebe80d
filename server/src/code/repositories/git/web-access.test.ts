/** Access of the service to repositories on the web: redirects, proxies, and a git that is too old. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { makeAuthority, withoutOpenssl } from '../../../../../agent/testing/certificates.ts';
import { startForwardProxy } from '../../../../../agent/testing/forward-proxy.ts';
import { startGitHost } from '../../../../../agent/testing/git-host.ts';
import { testApp } from '../../../../testing/app.ts';
import { gitFolder, innerService } from '../../../../testing/git-repository.ts';
import { fetchedFrom } from './fetch-commit.ts';
import { problemOfGit } from './git-version.ts';
import { listRevisions } from './open-repository.ts';
import { pinAddress } from './pin-address.ts';

describe('repositories on the web', { skip: withoutOpenssl }, async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'envarium-web-access-'));
  after(() => rmSync(temporary, { recursive: true, force: true }));
  const authority = makeAuthority(temporary, ['evil.invalid']);
  const folder = gitFolder();
  after(() => folder[Symbol.dispose]());
  folder.repository('code', { 'main.tf': '' });

  const inner = await innerService();
  const innerUrl = `https://127.0.0.1:${inner.port}`;

  /** Serves `/code`, and leads `/r.git` inside. */
  const host = await startGitHost({
    root: folder.path,
    authority,
    answer: (request, response) => {
      if (!request.url?.startsWith('/r.git')) return false;
      response.writeHead(302, { location: `${innerUrl}/r.git/info/refs?service=git-upload-pack` }).end();
      return true;
    },
  });
  after(() => host[Symbol.asyncDispose]());
  const proxy = await startForwardProxy({ rewrite: { 'evil.invalid:443': host.host } });
  after(() => proxy[Symbol.asyncDispose]());

  const open = await testApp({ ENVARIUM_CA_FILE: authority.file });
  const named = await testApp({ ENVARIUM_CA_FILE: authority.file, ENVARIUM_GIT_HTTP_HOSTS: host.host });
  const { gitHttpHosts } = named.context.settings;
  const sourceOf = (repository: string) => ({ repository, httpHosts: gitHttpHosts, localPaths: [] });

  /** Sets the variables of this process while it works. */
  async function withVariables<Result>(
    variables: Readonly<Record<string, string>>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, variables);
    try {
      return await work();
    } finally {
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    }
  }

  async function failure(reading: Promise<unknown>): Promise<string> {
    return reading.then(
      () => assert.fail('it was read'),
      (error: Error) => error.message,
    );
  }

  test('behind a proxy, a redirect to a host that NO_PROXY names is not followed', async () => {
    await withVariables({ HTTPS_PROXY: proxy.url }, async () => {
      const found = await listRevisions(open.context, sourceOf('https://evil.invalid/code'));
      assert.equal(found.heads.length, 1, 'the host is reached through the proxy');
      const text = await failure(listRevisions(open.context, sourceOf('https://evil.invalid/r.git')));
      assert.match(text, /redirects elsewhere.*: use the address that it redirects to/);
    });
    assert.equal(inner.connections(), 0);
  });

  test('a redirect of a host that ENVARIUM_GIT_HTTP_HOSTS names is not followed', async () => {
    assert.equal((await listRevisions(named.context, sourceOf(`${host.url}/code`))).heads.length, 1);
    assert.match(
      await failure(listRevisions(named.context, sourceOf(`${host.url}/r.git`))),
      /redirects elsewhere/,
    );
    assert.equal(inner.connections(), 0);
  });

  test('a name that the service cannot resolve is read through the proxy of its scheme only', async () => {
    const before = proxy.requests.length;
    const places: Record<string, string>[] = [
      { HTTP_PROXY: proxy.url },
      { HTTPS_PROXY: proxy.url, NO_PROXY: 'evil.invalid' },
      { HTTPS_PROXY: proxy.url, NO_PROXY: '*' },
    ];
    for (const variables of places)
      assert.match(
        await withVariables(variables, () =>
          failure(listRevisions(open.context, sourceOf('https://evil.invalid/code'))),
        ),
        /cannot be reached by the service/,
        JSON.stringify(variables),
      );
    assert.equal(proxy.requests.length, before);
  });

  test('a git that ignores the addresses that were checked does not read from the web', async () => {
    const git = (version: string) => {
      const file = join(temporary, `git-${version}`);
      writeFileSync(file, `#!/bin/sh\necho "git version ${version}"\n`);
      chmodSync(file, 0o755);
      return file;
    };
    const { settings } = (await testApp({ ENVARIUM_GIT_NETWORKS: '127.0.0.0/8' })).context;
    const pin = (program: string, repository: string, isProxied = false) =>
      pinAddress(settings, fetchedFrom(sourceOf(repository), undefined), { isProxied, program });
    for (const version of ['2.34.1', '2.30.2', '2.36.6', '1.8.3'])
      await assert.rejects(
        pin(git(version), 'https://localhost:8443/code.git'),
        new RegExp(
          `The service has git ${version}, which resolves the names of hosts again.*: install git 2\\.37 or later`,
        ),
      );
    for (const version of ['2.37.0', '2.39.5', '3.0.0', '2.45.1.windows.1'])
      await pin(git(version), 'https://localhost:8443/code.git');
    // Not pinned: the proxy resolves the name, or the operator has named the host.
    await pin(git('2.34.1'), 'https://localhost:8443/code.git', true);
    const byName = fetchedFrom(sourceOf(`${host.url}/code`), undefined);
    await pinAddress(named.context.settings, byName, { isProxied: false, program: git('2.34.1') });
    assert.equal(await problemOfGit('/usr/bin/git'), undefined);
  });
});
