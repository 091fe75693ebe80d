/** A kept demo: its link signs in once, and there is something to look at. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { removeScratch } from '../service.ts';
import { openPage, startBrowser, withoutRuns } from './browser.ts';

function startDemo(): ChildProcess {
  // The test runner's own variables would make the demo report to it.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const program = join(import.meta.dirname, '..', 'demo', 'main.ts');
  return spawn(process.execPath, [program, '--keep'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Output of the demo when it is finished. */
async function printed(demo: ChildProcess): Promise<string> {
  let text = '';
  for await (const part of demo.stdout!.setEncoding('utf8')) {
    text += String(part);
    if (text.includes('the reference of its API is at')) return stripVTControlCharacters(text);
  }
  throw new Error(`The demo has ended: ${text}`);
}

test('a kept demo prints a link that opens the web interface once', { skip: withoutRuns }, async () => {
  const demo = startDemo();
  const browser = await startBrowser();
  let folder: string | undefined;
  try {
    const text = await printed(demo);
    folder = /Its data is in ([^;]+);/.exec(text)?.[1];
    const link = /https?:\S+\/sign-in#link=\S+/.exec(text)?.[0] ?? '';
    const page = await openPage(browser);
    await page.goto(link);
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    for (const name of ['Waiting for you', 'Failed since your last visit', 'Drifted'])
      await page.getByRole('heading', { name }).first().waitFor();
    assert.ok(!page.url().includes('link='), 'the link is no longer in the address');
    const other = await openPage(browser);
    await other.goto(link);
    await other.getByRole('alert').waitFor();
  } finally {
    await browser.close();
    demo.kill('SIGTERM');
    if (demo.exitCode === null) await once(demo, 'exit');
    if (folder) await removeScratch(folder);
  }
});
