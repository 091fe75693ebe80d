import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { createProgram } from './program.ts';

const run = promisify(execFile);
const main = fileURLToPath(new URL('main.ts', import.meta.url));

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

/** Prints the address of each module that a program loads. */
const tracer = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
  process.on('exit', () => process.stderr.write(urls.join('\\n')));
`)}`;

describe('program', () => {
  it('every command has a description and can print JSON', () => {
    // Completions are read by shells.
    const commands = leaves(createProgram()).filter((command) => !/complet/.test(command.name()));
    assert.ok(commands.length >= 60);
    const lacking = commands.filter(
      (command) => command.description() === '' || !command.options.some(({ long }) => long === '--json'),
    );
    assert.deepEqual(
      lacking.map((command) => command.name()),
      [],
    );
  });

  it('no command accepts a secret on the command line', () => {
    const flags = leaves(createProgram()).flatMap((command) =>
      command.options.filter(
        ({ long, required, flags: option }) =>
          required && /secret|password/.test(long ?? '') && !option.endsWith('<file>'),
      ),
    );
    assert.deepEqual(
      flags.map(({ flags: text }) => text),
      [],
    );
  });

  it('the program starts without loading schemas, prompts and tables', async () => {
    const { stderr } = await run(process.execPath, ['--import', tracer, main, '--version']);
    const loaded = stderr.split('\n');
    assert.ok(
      loaded.some((url) => url.endsWith('/contract/src/routes.ts')),
      'the trace works',
    );
    assert.deepEqual(
      loaded.filter((url) =>
        /typebox|clack|cli-table3|contract\/src\/(schema|operations|enumerations)\.ts/.test(url),
      ),
      [],
    );
  });
});
