/** A playbook on its journey: that of the example. Ansible remembers nothing: what an abort has left stays until the destroy. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, rmdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { readExample } from '../../tools/examples.ts';
import { pythonProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { filesIn, fileWorldSettings, openFolder } from './file-world.ts';
import { journey } from './journey.ts';
import type { JourneyScenario } from './traveller.ts';

const secret = 'planted-secret-of-the-journey';

const sealed = `    - name: Write the password
      ansible.builtin.copy: {content: "{{ password }}", dest: "{{ site_folder }}/sealed", mode: "0600"}
`;

const waiting = `    - name: During
      ansible.builtin.copy: {content: during, dest: "{{ site_folder }}/during", mode: "0644"}
    - name: Slow
      ansible.builtin.shell: touch "{{ marks }}/waits"; until [ -e "{{ marks }}/gate" ]; do sleep 0.1; done
`;

/** The second one cannot be written as long as there is a folder of its name. */
const blocked = `    - name: Made
      ansible.builtin.copy: {content: made, dest: "{{ site_folder }}/made", mode: "0644"}
    - name: Blocked
      ansible.builtin.copy: {content: written, dest: "{{ site_folder }}/blocked", mode: "0644"}
`;

const page = (title: string) => `<!doctype html>\n<title>${title}</title>\n<h1>${title}</h1>\n`;

journey({
  type: 'ansible',
  needs: withToolbox('ansible'),
  settings: async () => ({
    ...fileWorldSettings,
    // Ansible waits for its task.
    ENVARIUM_ABORT_SECONDS: '2',
    PATH: [dirname(pythonProgram('ansible') ?? ''), process.env.PATH].join(delimiter),
  }),
  async arrive(_t, folder): Promise<JourneyScenario> {
    const site = join(await openFolder(folder, 'world'), 'site');
    const marks = await openFolder(folder, 'marks');
    const files = readExample('ansible');
    const playbook = `${files['playbook.yml']}${sealed}`;
    const title = (value: string) => ({ name: 'site_title', value, type: 1 as const });
    const evening = { 'index.html': page('Good evening'), sealed: secret };
    const aborted = { during: 'during', ...evening };
    const obstacle = join(site, 'blocked');
    return {
      files: { ...files, 'playbook.yml': playbook },
      secret,
      request: {
        configurationChanges: [
          { name: 'site_folder', value: site, type: 1 },
          { name: 'marks', value: marks, type: 1 },
          { name: 'ANSIBLE_VAR_password', value: secret, type: 0, isSensitive: true },
          title('Good morning'),
        ],
      },
      world: () => filesIn(site),
      create: {
        rows: [
          'create localhost/Web sites/Write the password',
          'create localhost/site/Create the folder',
          'create localhost/site/Write the page',
        ],
        summary: { added: 3, changed: 0, destroyed: 0, unknown: 1 },
        world: { 'index.html': page('Good morning'), sealed: secret },
        outputs: { site_folder: site },
        // The hosts.
        resourceCount: 1,
      },
      change: {
        variables: [title('Good evening')],
        rows: ['update localhost/site/Write the page'],
        summary: { added: 0, changed: 1, destroyed: 0, unknown: 1 },
        world: evening,
      },
      drift: {
        cause: () => appendFile(join(site, 'index.html'), '<p>by hand</p>\n'),
        row: 'update localhost/site/Write the page',
        evidence: /by hand/,
      },
      hang: {
        files: { 'playbook.yml': `${playbook}${waiting}` },
        isWaiting: async () => existsSync(join(marks, 'waits')),
        next: {
          files: { 'playbook.yml': playbook },
          rows: [],
          summary: { added: 0, changed: 0, destroyed: 0 },
          world: aborted,
        },
      },
      failure: {
        files: { 'playbook.yml': `${playbook}${blocked}` },
        spoil: () => mkdir(obstacle).then(() => undefined),
        reason: /dir as dest/,
        world: { ...aborted, blocked: 'folder', made: 'made' },
        mend: () => rmdir(obstacle),
        next: {
          rows: ['create localhost/Web sites/Blocked'],
          summary: { added: 1, changed: 0, destroyed: 0 },
          world: { ...aborted, blocked: 'written', made: 'made' },
        },
      },
      destroy: {
        rows: ['delete localhost/Removal of web sites/Remove the folder'],
        summary: { added: 0, changed: 0, destroyed: 1 },
        world: {},
      },
    };
  },
});
