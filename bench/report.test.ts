import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Recorded, resultsText } from './report.ts';

test('stored results have one figure a line', () => {
  const folder = new URL('./results/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const all = JSON.parse(text) as Recorded[];
    assert.equal(resultsText(all), text, name);
    const figures = all.flatMap((each) => each.figures).length;
    assert.equal(text.split('\n').filter((line) => line.startsWith('{"name":')).length, figures, name);
  }
});
