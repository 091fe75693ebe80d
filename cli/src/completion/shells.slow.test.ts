/** The completion scripts in the shells that they are for, with real keys on a real terminal. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Shell, scripts } from './scripts.ts';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));
const limitMilliseconds = 30_000;
let folder: string;

const isThere = (name: string) =>
  (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, name)));

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  // Completes as the real one does, and writes down how else it is called.
  writeFileSync(
    join(folder, 'envarium'),
    `#!/bin/sh
if [ "$1" = __complete ] || [ "$1" = completion ]; then exec '${process.execPath}' '${program}' "$@"; fi
printf '%s\\n' "$@" >'${folder}/called.new' && mv '${folder}/called.new' '${folder}/called'
`,
  );
  chmodSync(join(folder, 'envarium'), 0o755);
  for (const [shell, text] of Object.entries(scripts)) writeFileSync(join(folder, `script.${shell}`), text);
});
after(() => rmSync(folder, { recursive: true }));

const environment = () => ({
  PATH: `${folder}${delimiter}${process.env.PATH}`,
  HOME: folder,
  XDG_CONFIG_HOME: folder,
  TERM: 'xterm',
  LC_ALL: 'C.UTF-8',
  ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
});

const start: Readonly<Record<Shell, { command: string; prompt: string }>> = {
  bash: { command: 'bash --noprofile --norc -i', prompt: "PS1='rea''dy> '" },
  zsh: { command: 'zsh -f -i', prompt: "autoload -Uz compinit; compinit -u -D; PS1='rea''dy> '" },
  fish: { command: 'fish --no-config -i', prompt: "function fish_prompt; echo 'rea''dy> '; end" },
};

/** Types a line with a tab in it, and answers with which words the program was called. */
async function typed(shell: Shell, line: string): Promise<string[]> {
  rmSync(join(folder, 'called'), { force: true });
  const { command, prompt } = start[shell];
  const terminal = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...environment(), SHELL: '/bin/sh' },
    cwd: folder,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let seen = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text));
  const until = async (what: string, isTrue: () => boolean) => {
    for (const end = Date.now() + limitMilliseconds; !isTrue(); await delay(20))
      if (Date.now() > end) throw new Error(`${what} did not come: ${JSON.stringify(seen)}`);
  };
  try {
    terminal.stdin.write(`${prompt}; . ${join(folder, `script.${shell}`)}\n`);
    await until('the prompt', () => seen.includes('ready> '));
    terminal.stdin.write(line);
    await until('the call', () => existsSync(join(folder, 'called')));
    return readFileSync(join(folder, 'called'), 'utf8').trimEnd().split('\n');
  } finally {
    terminal.stdin.end('exit\n');
    terminal.kill('SIGHUP');
  }
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`${shell} completes a command, an option and a value at the tab key`, async (context: TestContext) => {
    for (const needed of [shell, 'script'])
      if (!isThere(needed)) return context.skip(`${needed} is not installed`);
    assert.deepEqual(await typed(shell, 'envarium environm\t sched\t --jso\t\n'), [
      'environment',
      'schedule',
      '--json',
    ]);
    assert.deepEqual(await typed(shell, 'envarium deploy --type driftD\t x\n'), [
      'deploy',
      '--type',
      'driftDetection',
      'x',
    ]);
  });
}

test('bash completes the value after an =, which it treats as the end of a word', (context: TestContext) => {
  if (!isThere('bash')) return context.skip('bash is not installed');
  const reply = (line: string) =>
    execFileSync(
      'bash',
      [
        '--norc',
        '-c',
        '. "$1"; COMP_LINE=$2; COMP_POINT=${#2}; _envarium envarium; printf "%s\\n" "${COMPREPLY[@]}"',
        '-',
        join(folder, 'script.bash'),
        line,
      ],
      { env: environment(), encoding: 'utf8' },
    ).trimEnd();
  assert.equal(reply('envarium deploy --type=pr'), 'prPlan');
  assert.equal(reply('envarium completion f'), 'fish');
  assert.equal(reply('envarium nothing-like-this '), '');
});
