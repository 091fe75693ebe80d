import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseTool } from './choose-tool.ts';

const onPath = { version: '1.11.4', path: '/usr/bin/terraform' };
const newer = { version: '1.12.0', path: '/opt/terraform' };

function chosen(wanted: string | undefined): string | undefined {
  const choice = chooseTool('terraform', 'terraformVersion', wanted, [onPath, newer]);
  return 'tool' in choice ? choice.tool.path : undefined;
}

test("without a version, or with the code's, the program on the PATH runs", () => {
  for (const wanted of [undefined, '', 'RESOLVE_FROM_TERRAFORM_CODE']) assert.equal(chosen(wanted), onPath.path);
});

test('latest is the newest at hand, and says so', () => {
  assert.equal(chosen('latest'), newer.path);
  const choice = chooseTool('terraform', 'terraformVersion', 'latest', [onPath]);
  assert.match('tool' in choice ? (choice.note ?? '') : '', /No index/);
});

test('an exact version runs where it is at hand, with or without a v', () => {
  assert.equal(chosen('1.12.0'), newer.path);
  assert.equal(chosen('v1.11.4'), onPath.path);
});

test('any other version is refused, naming what asked for it and what is there', () => {
  const choice = chooseTool('terraform', 'terraformVersion', '1.0.0', [onPath, newer]);
  assert.match('problem' in choice ? choice.problem : '', /terraform 1\.0\.0 .*terraformVersion.*1\.11\.4 .*1\.12\.0/);
  const none = chooseTool('terraform', 'terraformVersion', undefined, []);
  assert.match('problem' in none ? none.problem : '', /terraform is not installed/);
});
