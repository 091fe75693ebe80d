#!/usr/bin/env node
/**
 * The agent's program. Without arguments it is the agent; the processes and threads that the agent starts are
 * the same program with their role as the first argument. One file is therefore all that a machine needs, and
 * each role loads only what it uses.
 */
import type { ProgramRole } from './own/own-program.ts';

const roles = {
  runner: async () => (await import('./runner/run-runner.ts')).runRunner(),
  'tree-server': async () => {
    const [, , , user] = process.argv;
    (await import('./runner/tree/tree-server.ts')).serveTree(user === 'each' ? user : Number(user));
  },
  cloudformation: async () => (await import('./drivers/cloudformation/stacks/run-stacks.ts')).runStacks(),
  'unit-values': async () =>
    (await import('./drivers/terragrunt/unit-values/run-unit-values.ts')).runUnitValues(),
  'hcl-worker': async () => (await import('#guards/hcl/answer-parent.ts')).answerEach(),
} as const satisfies Record<ProgramRole, () => Promise<void>>;

const usage = `Usage: the agent takes no arguments; it is configured by environment variables.

  ENVARIUM_URL                  address of the service
  ENVARIUM_AGENT_KEY            id of the agent's key
  ENVARIUM_AGENT_SECRET_FILE    file that holds the key's secret
  ENVARIUM_SPOOL_DIR            folder that keeps what runs produce until the service has it

The service's docs/operate/settings.md lists all settings. "envarium doctor" reports what a machine lacks.

  --version    print the version
  --help       print this text
`;

const [, , word] = process.argv;
if (word === undefined) await (await import('./run-agent.ts')).runAgent();
else if (Object.hasOwn(roles, word)) await roles[word as ProgramRole]();
else if (word === '--version') process.stdout.write(`${(await import('./own/version.ts')).version}\n`);
else if (word === '--help') process.stdout.write(usage);
else {
  process.stderr.write(
    `The agent does not know ${JSON.stringify(word)}: it takes no arguments and is configured by environment variables. See --help.\n`,
  );
  process.exitCode = 2;
}
