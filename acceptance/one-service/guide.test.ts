/**
 * Runs the commands of docs/start/getting-started.md verbatim, in one shell, on a repository made for
 * it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram, withoutTerraform } from '../programs.ts';
import { until } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The blocks that are to be run: those of `sh`. */
async function blocksOf(page: string): Promise<string[]> {
  const text = await readFile(new URL(`../../docs/start/${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((block) => block[1] ?? '');
}

/** Exit status that each command may have besides 0. */
const endings: Readonly<Record<string, number>> = { 'environment create first': 3 };

test('every command of the getting-started guide does what the page says', {
  skip: withoutTerraform || ((await findProgram('bash')) === null && 'bash is not on the PATH'),
}, async () => {
  const service = await joinOneService();
  await until('the built-in agent', async () =>
    (await service.client.call('listAgents')).some(({ status }) => status === 'ACTIVE'),
  );
  const { path } = await makeRepository(service.folder, 'mine', {
    'network/main.tf':
      'variable "region" { type = string }\nresource "terraform_data" "it" { input = var.region }\noutput "region" { value = terraform_data.it.output }\n',
  });
  const blocks = (await blocksOf('getting-started.md')).map((block) =>
    block.replace(/^REPOSITORY=.*$/m, `REPOSITORY=${path}`),
  );
  assert.ok(blocks.length >= 6, `${blocks.length} blocks`);
  const script = blocks
    .join('')
    .split('\n')
    .map((line) => {
      if (!line.startsWith('envarium ')) return line;
      const status = Object.entries(endings).find(([start]) => line.includes(start))?.[1] ?? 0;
      return `${line}; status=$?; [ $status = ${status} ] || { echo "ended with $status: ${line.replaceAll(/["$`\\]/g, '')}"; exit 9; }`;
    })
    .join('\n');
  const shell = spawn('bash', ['-c', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: service.folder,
      ENVARIUM_API_URL: service.url,
      ENVARIUM_API_KEY: service.key,
      ENVARIUM_API_SECRET: service.secret,
    },
  });
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (printed += part));
  const [status] = await once(shell, 'exit');
  assert.equal(status, 0, printed);
  for (const expected of [
    /WAITING_FOR_USER/,
    /Apply complete! Resources: 1 added/,
    /region\s.*eu-central-1/,
    /eu-west-1/,
    /INACTIVE/,
  ])
    assert.match(printed, expected);
});
