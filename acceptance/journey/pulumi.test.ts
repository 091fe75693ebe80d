/** Pulumi on its journey: files, by a provider that reads them and waits or fails on request. */
import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pulumiFolder, withPulumi } from '../../agent/testing/pulumi/pulumi-folder.ts';
import { filesIn, fileWorldSettings, openFolder } from './file-world.ts';
import { journey } from './journey.ts';
import type { JourneyScenario } from './traveller.ts';

const secret = 'planted-secret-of-the-journey';

const code = `name: shop
runtime: yaml
config:
  world: { type: string }
  greeting: { type: string }
  password: { type: string, secret: true }
outputs:
  page: \${page.path}
  greeting: \${page.content}
resources:
  page:
    type: file:File
    properties: { path: "\${world}/page", content: "\${greeting}" }
  sealed:
    type: file:File
    properties: { path: "\${world}/sealed", content: "\${password}" }
`;

/** Changes something, and then waits for what never comes. */
const waiting = `  during:
    type: file:File
    properties: { path: "\${world}/during", content: during }
  slow:
    type: file:File
    properties: { path: "\${world}/slow", content: slow, mode: hang }
    options: { dependsOn: ["\${during}"] }
`;

/** The second one cannot be written as long as there is a folder of its name. */
const blocked = `  made:
    type: file:File
    properties: { path: "\${world}/made", content: made }
  blocked:
    type: file:File
    properties: { path: "\${world}/blocked", content: written }
    options: { dependsOn: ["\${made}"] }
`;

journey({
  type: 'pulumi',
  needs: withPulumi,
  settings: async () => ({
    ...fileWorldSettings,
    PATH: [pulumiFolder(), process.env.PATH].join(delimiter),
  }),
  async arrive(_t, folder): Promise<JourneyScenario> {
    const world = await openFolder(folder, 'world');
    const greeting = (value: string) => ({ name: 'greeting', value, type: 1 as const });
    const changed = { page: 'good evening', sealed: secret };
    const obstacle = join(world, 'blocked');
    const row = (action: string, name: string) =>
      `${action} urn:pulumi:journey::shop::file:index:File::${name}`;
    return {
      files: { 'Pulumi.yaml': code },
      secret,
      request: {
        workspaceName: 'journey',
        configurationChanges: [
          // Path of the plugin of the provider.
          { name: 'PATH', value: [pulumiFolder(), '/usr/bin', '/bin'].join(delimiter), type: 0 },
          { name: 'world', value: world, type: 1 },
          { name: 'password', value: secret, type: 1, isSensitive: true },
          greeting('good morning'),
        ],
      },
      world: () => filesIn(world),
      create: {
        rows: [row('create', 'page'), row('create', 'sealed')],
        summary: { added: 2, changed: 0, destroyed: 0 },
        world: { page: 'good morning', sealed: secret },
        outputs: { page: join(world, 'page'), greeting: 'good morning' },
      },
      change: {
        variables: [greeting('good evening')],
        rows: [row('update', 'page')],
        summary: { added: 0, changed: 1, destroyed: 0 },
        world: changed,
        outputs: { greeting: 'good evening' },
      },
      drift: {
        cause: () => writeFile(join(world, 'page'), 'scribbled'),
        row: row('update', 'page'),
        evidence: /scribbled/,
      },
      hang: {
        files: { 'Pulumi.yaml': `${code}${waiting}` },
        isWaiting: async () => existsSync(join(world, 'during')),
        next: {
          files: { 'Pulumi.yaml': code },
          rows: [row('delete', 'during')],
          summary: { added: 0, changed: 0, destroyed: 1 },
          world: changed,
        },
      },
      failure: {
        files: { 'Pulumi.yaml': `${code}${blocked}` },
        spoil: () => mkdir(obstacle).then(() => undefined),
        reason: /is a directory/,
        world: { ...changed, made: 'made', blocked: 'folder' },
        mend: () => rmdir(obstacle),
        next: {
          rows: [row('create', 'blocked')],
          summary: { added: 1, changed: 0, destroyed: 0 },
          world: { ...changed, made: 'made', blocked: 'written' },
        },
      },
      destroy: {
        rows: ['blocked', 'made', 'page', 'sealed'].map((name) => row('delete', name)),
        summary: { added: 0, changed: 0, destroyed: 4 },
        world: {},
      },
    };
  },
});
