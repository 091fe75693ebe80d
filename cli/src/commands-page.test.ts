import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { commandsPage } from './commands-page.ts';
import { createProgram } from './program.ts';

test('every command and every option has a description', () => {
  assert.doesNotMatch(commandsPage(), /^\| `.*` \| \.|^\.$/m);
});

test('the page has a section for every command', () => {
  const headings = Array.from(commandsPage().matchAll(/^## ([a-z-]+(?: [a-z-]+)*)/gm), ([, name]) => name);
  const namesBelow = (command: Command, path: string): string[] =>
    command.commands
      .filter((each) => !/^(__|help$)/.test(each.name()))
      .flatMap((each) => {
        const name = `${path} ${each.name()}`.trim();
        return each.commands.length > 0 ? namesBelow(each, name) : [name];
      });
  assert.deepEqual(headings, namesBelow(createProgram(), ''));
});
