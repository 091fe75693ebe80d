/** Roles and collections from archives of the repository and from a galaxy server, with the real Ansible. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sha256 } from '#protocol/approved.ts';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { pythonProgram } from '../../../../tools/toolbox/places.ts';
import { ansibleStage, withAnsible } from '../../../testing/ansible-stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';

const filter = `class FilterModule:
    def filters(self):
        return {'inc': lambda number: number + 1}
`;
const playbook = `- hosts: localhost
  gather_facts: false
  roles: [greeter]
  tasks:
    - ansible.builtin.debug: {msg: "{{ 1 | own.tools.inc }} is two"}
`;

function folderWith(t: TestContext, files: Record<string, string>): string {
  const folder = temporaryFolder(t, 'galaxy-');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** The archive of a collection, as its authors publish it. */
function collectionArchive(t: TestContext): Buffer {
  const folder = folderWith(t, {
    'galaxy.yml': 'namespace: own\nname: tools\nversion: 1.2.3\nreadme: README.md\nauthors: [A]\n',
    'README.md': 'Tools\n',
    'plugins/filter/inc.py': filter,
  });
  execFileSync(pythonProgram('ansible', 'ansible-galaxy') ?? '', ['collection', 'build'], {
    cwd: folder,
    stdio: 'ignore',
    env: { HOME: folder, PATH: '/usr/bin:/bin' },
  });
  return readFileSync(join(folder, 'own-tools-1.2.3.tar.gz'));
}

function roleArchive(t: TestContext): Buffer {
  const folder = folderWith(t, {
    'greeter/tasks/main.yml': '- ansible.builtin.debug: {msg: "the role greets"}\n',
    'greeter/meta/main.yml': 'galaxy_info: {}\n',
  });
  return execFileSync('tar', ['--create', '--gzip', '--file=-', `--directory=${folder}`, 'greeter']);
}

/** A galaxy server with one collection, for one token. */
async function galaxyServer(t: TestContext, archive: Buffer, token: string): Promise<string> {
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://galaxy').pathname;
    const answer = (body: object) => response.end(JSON.stringify(body));
    if (path !== '/api/' && request.headers.authorization !== `Token ${token}`) {
      response.statusCode = 401;
      return answer({ code: 'unauthorized', message: 'a token is needed' });
    }
    const { port } = server.address() as AddressInfo;
    const collection = '/api/v3/collections/own/tools/';
    if (path === '/api/') return answer({ available_versions: { v3: 'v3/' } });
    if (path === '/own-tools-1.2.3.tar.gz') return response.end(archive);
    if (path === collection) return answer({ created_at: '2026-01-01', updated_at: '2026-01-01' });
    if (path === `${collection}versions/`)
      return answer({ meta: { count: 1 }, links: { next: null }, data: [{ version: '1.2.3', href: '' }] });
    if (path === `${collection}versions/1.2.3/`)
      return answer({
        namespace: { name: 'own' },
        collection: { name: 'tools' },
        version: '1.2.3',
        href: `${collection}versions/1.2.3/`,
        download_url: `http://127.0.0.1:${port}/own-tools-1.2.3.tar.gz`,
        artifact: { sha256: sha256(archive), filename: 'own-tools-1.2.3.tar.gz', size: archive.length },
        metadata: { dependencies: {} },
        signatures: [],
      });
    response.statusCode = 404;
    answer({ code: 'not_found', message: `nothing is at ${path}` });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
}

test(
  'archives in the repository are installed from each list of requirements, and reach an apply elsewhere',
  withAnsible,
  async (t) => {
    const { setup, run, apply, job } = ansibleStage(t, {
      'playbook.yml': playbook,
      'collections/requirements.yml': 'collections:\n  - {name: archives/own-tools.tar.gz, type: file}\n',
      'roles/requirements.yml': '- {src: archives/greeter.tar.gz, name: greeter}\n',
    });
    mkdirSync(join(setup.repository, 'archives'));
    writeFileSync(join(setup.repository, 'archives/own-tools.tar.gz'), collectionArchive(t));
    writeFileSync(join(setup.repository, 'archives/greeter.tar.gz'), roleArchive(t));
    setup.commit({});
    const planned = await expectResult('planned', run(job()));
    assert.match(planned.log('ansible:check'), /the role greets[^]*2 is two/);
    assert.equal(planned.outcome.moduleVersions?.['own.tools'], '1.2.3');
    const applied = await expectResult('applied', apply(planned, { onOtherMachine: true }));
    assert.match(applied.log('ansible:playbook'), /the role greets[^]*2 is two/);
  },
);

test(
  'a collection of a galaxy server needs its token, and an apply needs neither',
  withAnsible,
  async (t) => {
    const token = 'planted-galaxy-token';
    const archive = collectionArchive(t);
    const url = await galaxyServer(t, archive, token);
    const files = {
      'playbook.yml': playbook.replace('  roles: [greeter]\n', ''),
      'requirements.yml': 'collections:\n  - {name: own.tools, version: ">=1.0.0"}\n',
    };
    const server = { ANSIBLE_GALAXY_SERVER_LIST: 'own', ANSIBLE_GALAXY_SERVER_OWN_URL: url };
    const { run, apply, job } = ansibleStage(t, files, {
      environment: { ...server, ANSIBLE_GALAXY_SERVER_OWN_TOKEN: token },
    });
    const planned = await expectResult('planned', run(job()));
    assert.deepEqual(planned.outcome.moduleVersions, { 'own.tools': '1.2.3' });
    archive.fill(0);
    await expectResult('applied', apply(planned, { onOtherMachine: true }));
    const otherStage = ansibleStage(t, files, { environment: server });
    const refused = await otherStage.run(otherStage.job());
    assert.match(failureMessageOf(refused), /a token is needed|401|nauthorized/);
    assert.equal(refused.steps()['ansible:galaxy'], 'FAIL');
  },
);
