/** Allowed imports between rooms. A new room is added here; families are listed in `server/src/families.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wings } from '../../server/src/families.ts';
import { root } from '../tree/repository.ts';

/**
 * The rooms, and the rooms that each may import. Files reach another room by `#room/…` where package.json
 * names it.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  guards: ['contract'],
  protocol: ['contract', 'guards'],
  settings: ['guards', 'protocol'],
  clouds: ['contract', 'guards'],
  agent: ['contract', 'guards', 'protocol', 'settings', 'clouds'],
  server: ['contract', 'guards', 'protocol', 'settings', 'clouds'],
  cli: ['contract', 'guards', 'protocol', 'settings'],
  web: ['contract'],
  acceptance: ['contract'],
  bench: ['contract', 'server'],
  tools: ['contract', 'guards', 'protocol', 'settings', 'clouds', 'agent', 'server', 'cli'],
};

/** Descriptions of the rooms for `docs/contribute/architecture.md`. */
const descriptions: Readonly<Record<string, string>> = {
  contract: 'the public API as values: operations, schemas, life cycles, the typed client',
  guards:
    'checks of values that a run must not abuse (repositories, ssh addresses, keys, regular expressions), and how untrusted git repositories and HCL are read: for the agent and the service',
  protocol: 'the messages between server and agents, and the facts about each tool',
  settings: 'the settings of all programs',
  clouds: 'requests to the interfaces of clouds, by agents and by the service',
  agent: 'runs deployments close to the tools',
  server: 'the service',
  cli: 'the command line',
  web: 'the web interface',
  acceptance: 'black-box tests of a running service, and the demo',
  bench: 'benchmarks and their recorded results',
  tools: 'launcher, checks, generators, house rules',
};

/** docs/contribute/architecture.md with the table of rooms as it is here; the rest of the page is written by hand. */
export function architecturePage(): string {
  const page = readFileSync(join(root, 'docs/contribute/architecture.md'), 'utf8');
  const rows = Object.entries(rooms).map(
    ([room, imports]) =>
      `| \`${room}/\` | ${descriptions[room] ?? ''} | ${imports.join(', ') || 'nothing of ours'} |`,
  );
  const table = ['| Room | What it is | Imports |', '|---|---|---|', ...rows].join('\n');
  return page.replace(/^\| Room \|.*?(?=\n\n)/ms, () => table);
}

/**
 * Modules of any room that only tests may import: paths of the real tools that were built for
 * them, whether the machine lets runs use them, and servers that stand in for others'.
 */
export const forTests: readonly string[] = [
  'tools/examples.ts',
  'tools/programs/built-programs.ts',
  'tools/programs/slot-uid-base.ts',
  'tools/toolbox/places.ts',
  'tools/suite/end-of-file.ts',
  'tools/suite/free-port.ts',
  'tools/suite/prepared-database.ts',
  'tools/suite/temporary-folder.ts',
  'tools/suite/until.ts',
  'tools/npm/install.mjs',
  'acceptance/web/browser.ts',
  'acceptance/web/large-plan.ts',
  'acceptance/web/showcase.ts',
  'cli/testing/run-command.ts',
  'protocol/src/tools/index.ts',
  'agent/testing/secret-stores/aws-server.ts',
  'agent/testing/tool-mirror.ts',
  'agent/testing/costs/plan-of-machines.ts',
  'agent/testing/costs/pricing-service.ts',
  'agent/testing/provider-registry.ts',
  'agent/testing/git-host.ts',
  'agent/testing/ssh-server.ts',
  'agent/testing/forward-proxy.ts',
  'agent/testing/certificates.ts',
  'agent/testing/cloudformation/server.ts',
  'agent/testing/cluster/cluster.ts',
  'agent/testing/cluster/played-readiness.ts',
  'agent/testing/cloudformation/with-own-program.ts',
  'agent/testing/pulumi/pulumi-folder.ts',
];

/** Files that no program loads. */
export const isForTests = (file: string): boolean =>
  file.endsWith('.test.ts') || /^(acceptance|bench|[a-z]+\/testing)\//.test(file);

/**
 * Folders and files of server/src in their one order: each imports only what is listed before it. First what
 * all families are built on, then the wings with their families, then what joins them. A file that is listed
 * separately is not part of its folder's place, nor is a folder that is not a family part of its wing's list.
 */
export const serverOrder: readonly string[] = [
  'ground/errors.ts',
  'ground/await-fields.ts',
  'ground/config',
  'ground/secrets',
  'ground/limits',
  'ground/blobs',
  'ground/database',
  'rows',
  'framework/access/access.ts',
  'framework/access/actor.ts',
  'framework/events',
  'framework/reactions.ts',
  'framework/context.ts',
  'framework/effects',
  'framework/audit',
  'framework/access',
  'framework/http',
  'framework/family.ts',
  'framework/http/app.ts',
  'tenancy/lifetimes',
  'runs/queue',
  'automation/discovery/matching',
  ...Object.entries(wings).flatMap(([wing, families]) => families.map(({ name }) => `${wing}/${name}`)),
  'families.ts',
  'start',
  'main.ts',
];

/** Inside the server, types of these may be imported from anywhere: what a verb receives, and the tables. */
export const freeTypes: readonly string[] = ['framework/context.ts', 'rows/schema.ts'];

/** Packages for development that only tests and tools may import are those of `devDependencies`. */
export const isForDevelopment = (file: string): boolean =>
  file.endsWith('.test.ts') ||
  /^(tools|acceptance\/web|bench)\//.test(file) ||
  /^[a-z]+\/testing\//.test(file);
