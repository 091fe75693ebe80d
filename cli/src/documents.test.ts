import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { splitLine } from './completion/split-line.ts';
import { createProgram } from './program.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));

/** Calls of the command line on a page: indented lines, and text in backticks. */
function callsOf(text: string): string[] {
  const lines = Array.from(
    text.matchAll(/^ {4}(?:\S+=\S+ )*(?:npm run --silent )?(envarium .+)$/gm),
    ([, line = '']) => line,
  );
  const inline = Array.from(text.matchAll(/`(envarium [^`\n]+)`/g), ([, line = '']) => line);
  return [...lines, ...inline].map((line) => line.replace(/^envarium -- /, 'envarium '));
}

/** Problem of a call; undefined if command and options exist. */
function wrongWith(call: string): string | undefined {
  const words = splitLine(call.replaceAll('…', ''))
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .slice(1);
  let command: Command = createProgram();
  const program = command;
  for (const [index, word] of words.entries()) {
    if (word === '--' || /^[|<>&#(]/.test(word)) return undefined;
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next) command = next;
    else if (command.commands.length > 0 && /^[a-z]/.test(word))
      return `there is no "${words.slice(0, index + 1).join(' ')}"`;
    const flag = /^--?[a-z][\w-]*/.exec(word)?.[0];
    const isKnown = [...command.options, ...program.options].some(
      ({ short, long }) => flag === short || flag === long,
    );
    if (flag !== undefined && !isKnown && !/^(-h|--help)$/.test(flag))
      return `"${command.name()}" has no option ${flag}`;
  }
  return undefined;
}

test('the command line knows every call that the documents show', () => {
  const wrong = pages.flatMap((page) =>
    callsOf(readFileSync(`${docs}${page}`, 'utf8')).flatMap((call) => {
      const text = wrongWith(call);
      return text === undefined ? [] : [`${page}: ${call}: ${text}`];
    }),
  );
  assert.deepEqual(wrong, []);
});

test('the command line page names every command', () => {
  const text = readFileSync(`${docs}start/cli.md`, 'utf8');
  const missing = createProgram()
    .commands.map((command) => command.name())
    .filter(
      (name) => !name.startsWith('__') && !text.includes(`\`${name}`) && !text.includes(`envarium ${name}`),
    );
  assert.deepEqual(missing, []);
});
